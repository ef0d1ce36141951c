"""The house's directions of import, walked in every module's syntax tree."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import synthnb

ROOT = Path(synthnb.__file__).parent

VALUES = ("records", "errors", "fingerprint", "config", "forked")
ADAPTERS = ("providers", "documents", "store", "export", "runtimes")

# package or module → what it may import besides itself. One table, read as the tiers of
# the architecture: values ← logic and adapters ← orchestration ← faces.
ALLOWED: dict[str, tuple[str, ...]] = {
    "records": (),
    "errors": ("records",),
    "fingerprint": ("records",),
    "config": ("errors",),
    "forked": ("errors",),
    # tier 1, logic without I/O
    "recipes": VALUES,
    "frames": VALUES,
    "curation": (*VALUES, "frames"),
    "demo": (),
    # tier 1, adapters: never each other
    "providers": VALUES,
    "documents": VALUES,
    "store": VALUES,
    "export": (*VALUES, "frames"),
    "runtimes": VALUES,
    # tier 2, orchestration
    "engine": (*VALUES, "recipes", "frames", "providers", "store"),
    "local": (*VALUES, "providers", "runtimes"),
    "arguments": (*VALUES, "providers", "recipes", "frames", "engine"),
    "pipeline": (
        *VALUES, *ADAPTERS, "recipes", "curation", "frames", "engine", "local", "arguments",
    ),
    "reviewing": (*VALUES, "store", "curation", "frames"),
    "scan": ("errors",),
    "migration": (*VALUES, "providers", "recipes", "frames", "export"),
    # tier 3, faces: never each other
    "widgets": (
        *VALUES, "providers", "runtimes", "store", "recipes", "curation", "frames",
        "engine", "local", "pipeline", "reviewing",
    ),
    "cli": (
        *VALUES, *ADAPTERS, "recipes", "curation", "frames", "engine", "local",
        "pipeline", "demo", "scan", "migration",
    ),
    "testing": (*VALUES, "providers"),
    "__main__": ("cli",),
}  # fmt: skip

# third parties that only the named places may import, at any depth of a function
OWNERS = {
    "openai": "providers/sdk.py",
    "nest_asyncio": "engine/nesting.py",
    "IPython": "widgets/",
    "ipywidgets": "widgets/",
    "anywidget": "widgets/",
    "genai_prices": "providers/prices.py",
    "httptools": "providers/http_connection.py",
    "sqlite3": "store/",
    "xllamacpp": "runtimes/",
    "markitdown": "documents/",
    "pypdfium2": "documents/",
    "keyring": "providers/key_offers.py",
    "rensa": "curation/",
    "jinja2": "recipes/",
}
NO_PANDAS = ("records", "errors", "fingerprint", "config", "engine", "recipes",
             "providers", "documents", "store", "runtimes", "local")  # fmt: skip


def modules():
    return sorted(
        p for p in ROOT.rglob("*.py") if p.parent != ROOT or p.stem != "__init__"
    )


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path, *, with_typing: bool = False) -> set[str]:
    """Return the full names that a module imports, those for type checkers left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    if not with_typing:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                skipped.update(n for child in node.body for n in ast.walk(child))
    names: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path):
    part = part_of(path)
    assert part in ALLOWED, f"{part} has no place in the table of tiers"
    allowed = {part, *ALLOWED[part]}
    for name in imported(path, with_typing=True):
        first, _, rest = name.partition(".")
        if first == "synthnb" and rest:
            target = rest.split(".")[0]
            assert target in allowed, f"{part} may not import {target} ({name})"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_third_parties_have_one_owner(path):
    place = path.relative_to(ROOT).as_posix()
    for name in imported(path):
        owner = OWNERS.get(name.split(".")[0])
        assert owner is None or place.startswith(owner), f"only {owner} imports {name}"
        if name.split(".")[0] == "pandas":
            assert part_of(path) not in NO_PANDAS, f"{place} is below the frames"


def test_every_part_of_the_table_exists():
    parts = {part_of(path) for path in modules()}
    assert set(ALLOWED) == parts


def test_the_table_has_no_cycle():
    seen: set[str] = set()

    def visit(part: str, path: tuple[str, ...]) -> None:
        assert part not in path, " → ".join((*path, part))
        if part not in seen:
            for below in ALLOWED[part]:
                visit(below, (*path, part))
            seen.add(part)

    for part in ALLOWED:
        visit(part, ())
