"""What a scan finds, where, and that it never repeats it."""

from __future__ import annotations

import json
import traceback

import pytest

from synthnb.errors import DocumentError
from synthnb.scan import Finding, scan_notebook


def leaks(key: str, text: str, size: int = 6) -> bool:
    return any(key[i : i + size] in text for i in range(len(key) - size + 1))


def kinds(findings):
    return [found.kind for found in findings]


def test_a_key_of_each_kind_is_found_once_and_never_repeated(book, draw):
    for kind, keys in draw.by_prefix().items():
        for key in keys:
            source = f'import openai\nclient = Client("{key}")  # mine\n'
            found = book.scan(book.code(source, [book.stream(f"using {key}.\n")]))
            assert kinds(found) == [kind, kind], key[:8]
            assert (found[0].place, found[0].line, found[0].column) == ("source", 2, 18)
            assert (found[1].place, found[1].line, found[1].column) == (
                "output 1",
                1,
                7,
            )
            for one in found:
                texts = (str(one), repr(one), json.dumps(one.to_json()))
                assert not any(leaks(key, text) for text in texts)


def test_a_private_key_is_found_in_any_form(book, draw):
    pem = draw.pem()
    escaped = json.dumps({"type": "service_account", "private_key": pem})
    for text in (f'key = """{pem}"""', escaped, f"creds = {escaped!r}"):
        assert kinds(book.scan_source(text)) == ["private key"]


def test_an_authorization_header_is_found_whatever_its_token(book, draw):
    token = draw.text(40)
    for text in (
        f"curl -H 'Authorization: Bearer {token}' localhost:8000",
        f'headers = {{"Authorization": "Bearer {token}"}}',
        f'headers["authorization"] = f"Bearer {token}"',
        f"> authorization: token {token}",
        "Authorization: Basic Ym9iOnc4enE3aHUyc3g=",
    ):
        assert kinds(book.scan_source(text)) == ["Authorization header"], text


def test_a_url_with_a_password_is_found(book, draw):
    for url in ("postgres://bob:{}@db.example.org/x", "https://bob:{}@host:8443/v1"):
        key = draw.text(12)
        (found,) = book.scan_source(f'connect("{url.format(key)}")')
        assert found.kind == "URL with a password"
        assert found.advice.startswith("Change the password")
        assert not leaks(key, str(found))


ASSIGNED = [
    'api_key = "{}"',
    "api_key='{}'",
    "OPENAI_API_KEY={}",
    "export HF_TOKEN={}",
    "%env MISTRAL_API_KEY {}",
    "%env MISTRAL_API_KEY={}",
    "!vllm serve model --api-key {} --port 8000",
    "!login --token={}",
    'os.environ["AZURE_OPENAI_KEY"] = "{}"',
    'os.environ.setdefault("WANDB_API_KEY", "{}")',
    "client = Client(secret_key=b'{}')",
    'api_key: SecretStr = SecretStr("{}")',
    "{{'client_secret': '{}', 'id': 3}}",
    "password: {}",
    "apiKey: '{}',",
]


@pytest.mark.parametrize("form", ASSIGNED)
def test_a_drawn_value_under_the_name_of_a_secret_is_found(form, book, draw):
    for length, alphabet in ((32, "0123456789abcdef"), (40, None)):
        value = draw.text(length, *([alphabet] if alphabet else []))
        (found,) = book.scan_source(f"# set up\n{form.format(value)}\n")
        assert found.kind == "value assigned to the name of a secret"
        assert found.line == 2
        assert not leaks(value, str(found))


def test_entries_of_json_are_assignments_too(book, draw):
    value = draw.text(32)
    output = book.shown(application__json={"config": {"api_key": value}})
    (found,) = book.scan(book.code(outputs=[output]))
    assert found.place == 'output 1, application/json, "api_key"'
    (found,) = book.scan(book.code("1"), metadata={"my tool": {"auth_token": value}})
    assert (found.place, found.cell) == ('metadata, "auth_token"', None)


NO_KEYS = [
    'api_key = "YOUR_API_KEY"',
    'api_key = "sk-..."',
    'api_key="sk-your-key-here"',
    'api_key="<your key>"',
    'api_key="env:OPENAI_API_KEY"',
    "api_key = os.environ['OPENAI_API_KEY']",
    "api_key = getpass.getpass('Key for the 1st server: ')",
    "OPENAI_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
    "OPENAI_API_KEY=sk-" + "x" * 32,
    "OPENAI_API_KEY=sk-" + "1234567890abcdef" * 2,
    "OPENAI_API_KEY=$MY_OTHER_KEY_FROM_2024",
    "OPENAI_API_KEY=${OPENAI_API_KEY}",
    'key = "sk-CANARY-9f3b7d21"',
    'token = "{{ token_from_template_1 }}"',
    'headers = {"Authorization": f"Bearer {key}"}',
    "Authorization: Bearer YOUR_TOKEN",
    "Authorization: Bearer sk-...",
    "hf_hub_download(repo_id='x'); hf_token=None; token=True",
    "AKIAIOSFODNN7EXAMPLE",
    "postgres://postgres:postgres@localhost:5432/db",
    "postgres://user:password@localhost/db",
    "http://user:{password}@host, redis://:***@host, https://u:<pw>@host",
    "'sk-proj-...' or 'sk-ant-api03-...' or 'hf_...' or 'sk-****'",
    "eos_token='<|endoftext|>', max_tokens=4096, token_type_ids, tokenizer_2_model_v3",
    "if '-----BEGIN PRIVATE KEY-----' in text: warn()",
    *(
        f"sk-{name}"
        for name in ("learn-compatible-estimators-v2", "toggleable__content")
    ),
    "primary_key = 'a8098c1a-f86e-11da-bd1a-00112444be1e'",
    "next_page_token='CAUQAA9x8Yz7Qw3Er5Ty'",
    "model = 'meta-llama/Llama-3.1-8B-Instruct'; token='gpt-4o-mini-2024-07-18'",
    "from openai import AzureOpenAI, api_key, OpenAIError",
    "key_len = len('secret') ; secret = compute_secret_from(seed=12345, name='x1')",
    "token = tokenizer.convert_ids_to_tokens(12345678901234)",
    "mailto:bob@example.org https://example.org:8000/@user",
]


@pytest.mark.parametrize("text", NO_KEYS)
def test_placeholders_and_code_are_no_keys(text, book):
    assert book.scan_source(text) == ()
    assert book.scan_output(text) == ()


def test_what_looks_alike_but_is_no_key(book, draw):
    hexadecimal = "0123456789abcdef"
    base64_alphabet = (
        draw.text(0)
        + "".join(map(chr, range(65, 91)))
        + ("abcdefghijklmnopqrstuvwxyz0123456789+/")
    )
    for _ in range(200):
        uuid = "-".join(draw.text(n, hexadecimal) for n in (8, 4, 4, 4, 12))
        blob = "\n".join(draw.text(76, base64_alphabet) for _ in range(40))
        text = (
            f"commit {draw.text(40, hexadecimal)}\nsha256:{draw.text(64, hexadecimal)}\n"
            f"record_id {draw.text(16, hexadecimal)} request_key={draw.text(64, hexadecimal)}"
            f"\nid={uuid} token {uuid}\nmd5 {draw.text(32, hexadecimal)}\n"
            f"<img src='data:image/png;base64,{blob}'>\n{blob}\n"
            f"/files/{draw.text(40, base64_alphabet)}/x {draw.text(22)}-{draw.text(22)}"
        )
        assert book.scan_output(text) == ()


def test_pictures_are_not_looked_through(book, draw):
    key = draw.by_prefix()["Google API key"][0]
    data = {"image/png": key, "text/plain": "<Figure>", "application/pdf": [key]}
    output = {"output_type": "display_data", "metadata": {}, "data": data}
    attachments = {"plot.png": {"image/png": key}}
    markdown = {
        "cell_type": "markdown",
        "metadata": {},
        "source": "![](attachment:plot.png)",
    }
    assert (
        book.scan(book.code(outputs=[output]), markdown | {"attachments": attachments})
        == ()
    )
    # An SVG is text, and shows what is in it.
    assert (
        len(
            book.scan(
                book.code(outputs=[book.shown(**{"image__svg+xml": f"<text>{key}"})])
            )
        )
        == 1
    )


def test_every_part_of_a_cell_is_looked_at(book, draw):
    key = draw.by_prefix()["OpenAI-like key"][0]
    frame = f"\x1b[0;31m---> 3\x1b[0m client(\x1b[33m'{key[:9]}\x1b[39m{key[9:]}')"
    error = {
        "output_type": "error", "ename": "AuthError", "evalue": f"bad key {key}",
        "traceback": ["Traceback", frame, "AuthError"],
    }  # fmt: skip
    cell = book.code(
        ["x = 1\n", f"key = '{key}'\n"],
        [
            book.stream(["a\n", f"b {key}\n"]),
            book.shown(text__html=[f"<b>{key}</b>"]),
            error,
        ],
        metadata={"tags": [key]},
        attachments={"note.txt": {"text/plain": key}},
    )
    found = book.scan(cell)
    assert [(one.place, one.line) for one in found if one.place != "cell"] == [
        ("source", 2),
        ("output 1", 2),
        ("output 2, text/html", 1),
        ("output 3, error", 1),
        ("output 3, error", 2),
        ('attachment, "text/plain"', 1),
        ('metadata, "tags"', 1),
    ]
    assert {one.cell for one in found} == {1}
    assert {one.cell_id for one in found} == {"cell-1"}
    assert not any(leaks(key, str(one)) for one in found)


def test_the_advice_is_for_the_place(book, draw):
    key = draw.by_prefix()["Groq key"][0]
    found = book.scan(book.code(key, [book.stream(key)]), metadata={"x": key})
    assert [one.advice.partition("then ")[2][:12] for one in found] == [
        "take it out ", "clear the ou", "take it out ",
    ]  # fmt: skip
    assert all(
        one.advice.startswith("Revoke the key where it was made") for one in found
    )


def password(value, kind="PasswordModel", **more):
    state = {"_model_name": kind, "description": "", "value": value, **more}
    return {
        "model_name": kind,
        "model_module": "@jupyter-widgets/controls",
        "state": state,
    }


def test_a_filled_password_widget_is_found_whatever_it_holds(book):
    (found,) = book.scan_models(password("hunter2"), password(""))
    assert found.kind == "filled Password widget"
    assert (found.place, found.cell) == ("widget state, PasswordModel", None)
    assert found.length == "under 12 characters"
    assert "hunter2" not in repr(found)
    assert "sn.ProviderPicker" in found.advice


def test_a_text_field_for_a_key_is_found(book, draw):
    value = draw.text(32)
    (found,) = book.scan_models(password(value, "TextModel", description="API key:"))
    assert found.kind == "value assigned to the name of a secret"
    assert book.scan_models(password(value, "TextModel", description="Title:")) == ()
    buffered = {"model_name": "ImageModel", "state": {}, "buffers": [
        {"encoding": "base64", "path": ["value"], "data": f"AKIA{value}"}]}  # fmt: skip
    assert book.scan_models(buffered) == ()


def test_parts_of_a_key_are_found(book, draw):
    key = draw.by_prefix()["OpenAI-like key"][0]
    for text in (
        "sk-proj-Ab…",
        f"{key[:12]}...",
        f"Incorrect API key provided: sk-proj-{'*' * 120}x9Qz.",
        f"sk-ant-api03-{draw.text(6)}...{draw.text(4)}",
        f"hf_{draw.text(6)}…",
    ):
        (found,) = book.scan_output(f"using {text}")
        assert found.kind == "part of a key", text
        assert "if others can read this" in found.advice


def test_a_printed_beginning_of_a_key_is_found_in_outputs(book, draw):
    for prefix in ("sk-proj-", "sk-or-v1-", "sk-ant-api03-", "nvapi-"):
        begin = f"{prefix}{draw.text(3)}Q7x"
        assert kinds(book.scan_output(f"{begin}\n")) == ["part of a key"], prefix
        assert book.scan_source(f"key.startswith('{begin}')") == ()


def test_values_of_this_machines_own_secrets_are_found_exactly(book):
    value = "correct horse battery"
    environ = {"DB_PASSWORD": value, "PATH": "/usr/bin:/bin:/sbin", "MY_TOKEN": "short"}
    (found,) = book.scan(
        book.code(f"x = '{value}'; '/usr/bin:/bin:/sbin'; 'short'"), environ=environ
    )
    assert found.kind == "value of the environment variable DB_PASSWORD"
    (found,) = book.scan(
        book.code("get('/?q=correct%20horse%20battery')"), environ=environ
    )
    assert found.kind == "value of the environment variable DB_PASSWORD"
    assert not leaks(value, repr(found))


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "HF_TOKEN", "CLIENT_SECRET", "pg_password"]
)
def test_an_environment_variables_name_says_that_it_is_a_secret(name, book, draw):
    value = draw.text(12, "abcdefgh.")
    assert kinds(book.scan(book.code(value), environ={name: value})) == [
        f"value of the environment variable {name}"
    ]
    assert book.scan(book.code(value), environ={f"{name}_FILE": value}) == ()


def test_the_beginning_of_an_own_secret_is_found(book, draw):
    value = draw.text(40)
    (found,) = book.scan(
        book.code(f"print('{value[:10]}')"), environ={"A_TOKEN": value}
    )
    assert found.kind == "part of a key: the environment variable A_TOKEN"
    anthropic = f"sk-ant-api03-{draw.text(60)}"
    environ = {"ANTHROPIC_API_KEY": anthropic}
    assert book.scan(book.code("x.startswith('sk-ant-api03-')"), environ=environ) == ()


def test_this_process_environment_is_the_default(book, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", "not drawn at all")
    (found,) = scan_notebook(book.write(book.code("'not drawn at all'")))
    assert "TEST_API_KEY" in found.kind


def test_a_key_in_a_name_is_masked_where_the_place_is_told(book, draw, tmp_path):
    key = draw.by_prefix()["OpenAI-like key"][0]
    secret = draw.text(30)
    path = book.write(
        book.code(
            key, id=key[:64], metadata={key: key, secret: secret, f"m/{key}": key}
        ),
        book.code(outputs=[book.shown(**{f"text/{secret}": key})]),
        path=tmp_path / f"{draw.text(3)} {key[:90]}.ipynb",
    )
    found = scan_notebook(path, environ={"X_SECRET": secret})
    assert len(found) > 5
    for one in found:
        assert not leaks(key, str(one)), one.place[:20]
        assert not leaks(secret, json.dumps(one.to_json()))


def test_old_formats_are_looked_at(tmp_path, draw):
    key = draw.by_prefix()["Hugging Face token"][0]
    cells = [
        {"cell_type": "code", "input": [f"login('{key}')"], "language": "python", "outputs": [
            {"output_type": "pyout", "text": [f"'{key}'"], "png": key, "prompt_number": 1},
            {"output_type": "pyerr", "traceback": [f"KeyError: {key}"]},
        ]},
        {"cell_type": "heading", "level": 1, "source": [key]},
    ]  # fmt: skip
    old = {
        "nbformat": 3,
        "metadata": {"name": ""},
        "worksheets": [{"cells": cells, "metadata": {}}],
    }
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(old))
    found = scan_notebook(path, environ={})
    assert [(one.cell, one.place) for one in found] == [
        (1, "source"), (1, "output 1"), (1, "output 2, error"), (2, "source"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "odd",
    [
        {"cells": {"a": 1}}, {"cells": ["x", None, 3, []]}, {"cells": [], "metadata": []},
        {"cells": [{"outputs": {"a": 1}, "source": 3, "metadata": None, "id": 5}]},
        {"cells": [], "metadata": {"widgets": []}},
        {"cells": [], "metadata": {"widgets": {
            "application/vnd.jupyter.widget-state+json": {"state": {"a": None, "b": {}}}}}},
        {"worksheets": [None, {"cells": None}, {"cells": [{"input": None}]}]},
    ],
)  # fmt: skip
def test_odd_notebooks_are_looked_through_all_the_same(odd, tmp_path, draw):
    key = draw.by_prefix()["Groq key"][0]
    path = tmp_path / "odd.ipynb"
    path.write_text(
        json.dumps({"nbformat": 4, "metadata": {}, **odd, "extra": [[{"deep": key}]]})
    )
    assert kinds(scan_notebook(path, environ={})) == ["Groq key"]


def test_a_key_after_an_escaped_line_break_is_found(book, draw):
    key = draw.by_prefix()["OpenAI-like key"][0]
    assert len(book.scan_output(rf"'first line\n{key}\n'")) == 1
    assert len(book.scan_output(f"https://host/?q=%22{key}%22")) == 1


UNREADABLE = {
    "broken": b'{"cells": [',
    "conflict": b'{"cells": [\n<<<<<<< ours\n]}',
    "list": b"[1, 2]",
    "other json": b'{"a": 1}',
    "binary": bytes(range(256)) * 10,
    "utf-16": '{"cells": []}'.encode("utf-16"),
    "deep": b'{"cells": ' + b"[" * 100_000,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_notebook_is_said_without_its_text(name, tmp_path, draw):
    key = draw.by_prefix()["OpenAI-like key"][0]
    path = tmp_path / "x.ipynb"
    path.write_bytes(
        UNREADABLE[name] + (f'"{key}"'.encode() if name != "utf-16" else b"")
    )
    with pytest.raises(DocumentError, match="cannot be scanned") as caught:
        scan_notebook(path)
    assert caught.value.hint
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None, "errors of the standard library keep the text"
    assert not leaks(key, "".join(traceback.format_exception(error)))


def test_what_is_no_file_is_said(tmp_path):
    (tmp_path / "loop.ipynb").symlink_to(tmp_path / "loop.ipynb")
    for path in (
        tmp_path,
        tmp_path / "none.ipynb",
        tmp_path / "loop.ipynb",
        "/dev/zero",
        "a\0b",
    ):
        with pytest.raises(DocumentError, match="cannot be scanned"):
            scan_notebook(path)


def test_an_empty_file_is_an_empty_notebook(tmp_path):
    path = tmp_path / "new.ipynb"
    path.write_bytes(b"")
    assert scan_notebook(path) == ()
    path.write_bytes(b'\xef\xbb\xbf{"cells": []}')
    assert scan_notebook(path) == ()


def test_a_finding_is_a_plain_value(book, draw):
    (found,) = book.scan_source(draw.by_prefix()["npm token"][0])
    assert found == Finding(**found.to_json())
    assert len({found, found}) == 1
    assert str(found).endswith(
        "cell 1 (cell-1), source, line 1, column 1: npm token, 40 to 79 characters"
    )


def test_our_own_notebooks_are_clean():
    from pathlib import Path

    for path in (Path(__file__).parents[2] / "notebooks").glob("*.ipynb"):
        assert scan_notebook(path) == ()


def test_a_key_behind_the_escapes_of_another_language_is_found(book, draw):
    value, (key, *_) = draw.text(40), next(iter(draw.by_prefix().values()))
    dashes = key.replace("-", "&#45;")
    for text in (
        f"{{&quot;api_key&quot;: &quot;{value}&quot;}}",
        f'{{\\"api_key\\": \\"{value}\\"}}',
        f"Authorization:\\u0020Bearer\\u0020{value}",
        f"\\x1b[31m{key}",
        f"{key[:12]}\x1b(B{key[12:]}",
        f"<b>{dashes}</b>",
    ):
        found = book.scan_source(text)
        assert found, text.replace(key, "KEY").replace(value, "VALUE")
        assert not any(
            leaks(key, repr(one)) or leaks(value, repr(one)) for one in found
        )
