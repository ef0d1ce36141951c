"""synthnb: synthetic training data in Jupyter, with any OpenAI-compatible model.

::

    import synthnb as sn

    provider = sn.Provider("http://localhost:8000/v1")  # or sn.Provider.local()
    chunks = sn.read("handbook.pdf")
    run = sn.generate(sn.QA(pairs=3), chunks, provider, name="handbook")
    df = await run
    kept = sn.keep(sn.deduplicate(sn.apply_checks(df)))
    sn.export(kept, "train.jsonl", format="chatml")

Importing this module loads nothing heavy: each name is fetched on first use (PEP 562).
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synthnb import errors as errors
    from synthnb import testing as testing
    from synthnb.config import Limits as Limits
    from synthnb.config import Retry as Retry
    from synthnb.curation import Check as Check
    from synthnb.curation import agreement as agreement
    from synthnb.curation import apply_checks as apply_checks
    from synthnb.curation import contamination as contamination
    from synthnb.curation import deduplicate as deduplicate
    from synthnb.curation import keep as keep
    from synthnb.curation import split as split
    from synthnb.curation import top_up as top_up
    from synthnb.engine.run import Run as Run
    from synthnb.export import export as export
    from synthnb.export import export_dataset as export_dataset
    from synthnb.export import verify as verify
    from synthnb.local import Provider as Provider
    from synthnb.migration import config_from_sdk as config_from_sdk
    from synthnb.migration import read_sdk as read_sdk
    from synthnb.migration import write_sdk as write_sdk
    from synthnb.pipeline import estimate as estimate
    from synthnb.pipeline import generate as generate
    from synthnb.pipeline import preview as preview
    from synthnb.pipeline import rate as rate
    from synthnb.pipeline import read as read
    from synthnb.providers.prices import Price as Price
    from synthnb.recipes import QA as QA
    from synthnb.recipes import ChainOfThought as ChainOfThought
    from synthnb.recipes import Conversation as Conversation
    from synthnb.recipes import Enhance as Enhance
    from synthnb.recipes import Judge as Judge
    from synthnb.recipes import Prompt as Prompt
    from synthnb.recipes import Summary as Summary
    from synthnb.reviewing import decide as decide
    from synthnb.reviewing import decisions as decisions
    from synthnb.reviewing import undo as undo
    from synthnb.reviewing import with_decisions as with_decisions
    from synthnb.scan import scan_notebook as scan_notebook
    from synthnb.widgets.picker import ProviderPicker as ProviderPicker
    from synthnb.widgets.profile import profile as profile
    from synthnb.widgets.review import review as review
    from synthnb.widgets.table import table as table

    __version__: str

_HOME = {
    "ChainOfThought": "synthnb.recipes",
    "Check": "synthnb.curation",
    "Conversation": "synthnb.recipes",
    "Enhance": "synthnb.recipes",
    "Judge": "synthnb.recipes",
    "Limits": "synthnb.config",
    "Price": "synthnb.providers.prices",
    "Prompt": "synthnb.recipes",
    "Provider": "synthnb.local",
    "ProviderPicker": "synthnb.widgets.picker",
    "QA": "synthnb.recipes",
    "Retry": "synthnb.config",
    "Run": "synthnb.engine.run",
    "Summary": "synthnb.recipes",
    "agreement": "synthnb.curation",
    "apply_checks": "synthnb.curation",
    "config_from_sdk": "synthnb.migration",
    "contamination": "synthnb.curation",
    "decide": "synthnb.reviewing",
    "decisions": "synthnb.reviewing",
    "deduplicate": "synthnb.curation",
    "errors": "",
    "estimate": "synthnb.pipeline",
    "export": "synthnb.export",
    "export_dataset": "synthnb.export",
    "generate": "synthnb.pipeline",
    "keep": "synthnb.curation",
    "preview": "synthnb.pipeline",
    "profile": "synthnb.widgets.profile",
    "rate": "synthnb.pipeline",
    "read": "synthnb.pipeline",
    "read_sdk": "synthnb.migration",
    "review": "synthnb.widgets.review",
    "scan_notebook": "synthnb.scan",
    "split": "synthnb.curation",
    "table": "synthnb.widgets.table",
    "testing": "",
    "top_up": "synthnb.curation",
    "undo": "synthnb.reviewing",
    "verify": "synthnb.export",
    "with_decisions": "synthnb.reviewing",
    "write_sdk": "synthnb.migration",
}

__all__ = [
    "QA",
    "ChainOfThought",
    "Check",
    "Conversation",
    "Enhance",
    "Judge",
    "Limits",
    "Price",
    "Prompt",
    "Provider",
    "ProviderPicker",
    "Retry",
    "Run",
    "Summary",
    "__version__",
    "agreement",
    "apply_checks",
    "config_from_sdk",
    "contamination",
    "decide",
    "decisions",
    "deduplicate",
    "errors",
    "estimate",
    "export",
    "export_dataset",
    "generate",
    "keep",
    "preview",
    "profile",
    "rate",
    "read",
    "read_sdk",
    "review",
    "scan_notebook",
    "split",
    "table",
    "testing",
    "top_up",
    "undo",
    "verify",
    "with_decisions",
    "write_sdk",
]


def __getattr__(name: str) -> Any:
    """Fetch a public name on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("synthnb")
    if name not in _HOME:
        msg = f"module 'synthnb' has no attribute {name!r}"
        # With both, Python itself adds "Did you mean".
        raise AttributeError(msg, name=name, obj=sys.modules[__name__])
    if "ipykernel" in sys.modules:
        # Inside a kernel a Run shows itself; everywhere else nothing of this is loaded.
        import_module("synthnb.widgets").register()
    home = _HOME[name]
    value = (
        getattr(import_module(home), name) if home else import_module(f"synthnb.{name}")
    )
    globals()[name] = value
    return value


class _Package(ModuleType):
    """Keeps ``synthnb.export`` the function, whoever imports the module of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Take a name; the import system binds each submodule to its own."""
        if isinstance(value, ModuleType) and _HOME.get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
