"""Stands in for xllamacpp in the child: the life of the server without a model.

``STUB`` in the environment: ``loading`` never gets ready, ``broken`` fails to load.
"""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(
            model=SimpleNamespace(),
            cpuparams=SimpleNamespace(),
            cpuparams_batch=SimpleNamespace(),
        )


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if os.environ.get("STUB") == "loading" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Server:
    def __init__(self, params):
        if os.environ.get("STUB") == "broken":
            raise RuntimeError("the stub cannot load " + params.model.path)
        http = ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{http.server_port}"
