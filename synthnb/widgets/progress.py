"""A run's progress in a notebook: one line and a bar that live while it works."""

from __future__ import annotations

import asyncio
from html import escape
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle

from synthnb.engine.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS = 0.3
_watchers: set[asyncio.Task[None]] = set()


def register_formatter() -> None:
    """Tell the running IPython how to show a ``Run``."""
    shell = get_ipython()
    if shell is None:
        return
    formatter: Any = shell.display_formatter
    formatter.ipython_display_formatter.for_type(Run, show)


def show(run: Run) -> None:
    """Show a run in the cell's output and keep it up to date until the run ends."""
    handle: Any = DisplayHandle()  # type: ignore[no-untyped-call]
    handle.display(bundle(run), raw=True)
    if run.state.is_final:
        return
    try:
        task = asyncio.get_running_loop().create_task(_watch(run, handle))
    except RuntimeError:
        return
    # A task that nobody holds may be collected while it sleeps.
    _watchers.add(task)
    task.add_done_callback(_watchers.discard)


async def _watch(run: Run, handle: Any) -> None:
    shown = ""
    while True:
        final = run.state.is_final
        now = bundle(run)
        if now["text/html"] != shown:
            handle.update(now, raw=True)
            shown = now["text/html"]
        if final:
            return
        await asyncio.sleep(_SECONDS)


def bundle(run: Run) -> Mapping[str, str]:
    """Return the run as text and as HTML. All text in the HTML is escaped."""
    line = run.progress.line(run.state)
    name = escape(run.name)
    return {"text/plain": repr(run), "text/html": _html(run, name, escape(line))}


def _html(run: Run, name: str, line: str) -> str:
    wanted = run.progress.wanted or 0
    share = min(1.0, run.progress.done / wanted) if wanted else float(not wanted)
    label = f"{share:.0%} of {wanted:,} rows"
    # A native progress element: it has a role and a value for screen readers, and the
    # colours are JupyterLab's own, so light and dark follow the theme.
    bar = (
        f'<progress max="1" value="{share:.4f}" aria-label="{label}" style="width:100%;'
        'height:0.6em;accent-color:var(--jp-brand-color1,#1976d2)"></progress>'
        if wanted
        else ""
    )
    return (
        '<div style="font-family:var(--jp-ui-font-family,sans-serif);font-size:'
        "var(--jp-ui-font-size1,13px);color:var(--jp-ui-font-color1,inherit);"
        'font-variant-numeric:tabular-nums;max-width:60em;line-height:1.5">'
        f"<div><strong>{name}</strong> {line}</div>{bar}</div>"
    )
