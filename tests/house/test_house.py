"""Habits of the house that a machine can check."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import synthnb

ROOT = Path(synthnb.__file__).parent
TOP = Path(__file__).parents[2]
HEAVY = ["pandas", "numpy", "openai", "ipywidgets", "anywidget", "pyarrow", "httptools",
         "IPython", "jinja2", "pydantic", "aiohttp", "orjson"]  # fmt: skip


def loaded_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_synthnb_loads_nothing_heavy():
    assert not loaded_after("import synthnb; dir(synthnb)") & set(HEAVY)


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("Provider", {"pandas", "pyarrow", "openai", "ipywidgets", "httptools"}),
        ("QA", {"pandas", "pyarrow", "openai", "ipywidgets", "httptools"}),
        ("generate", {"pandas", "pyarrow", "openai", "ipywidgets", "httptools"}),
        ("export", {"pandas", "pyarrow", "openai", "ipywidgets", "httptools"}),
    ],
)
def test_a_name_loads_only_what_it_needs(name, without):
    assert not loaded_after(f"import synthnb; synthnb.{name}") & without


def test_all_is_sorted_and_every_name_is_there():
    import inspect

    names = synthnb.__all__
    assert len(names) == len(set(names))
    for name in names:
        value = getattr(synthnb, name)
        assert inspect.ismodule(value) or inspect.getdoc(value), name
    assert set(dir(synthnb)) == set(names)
    with pytest.raises(AttributeError, match="no attribute 'nothing'") as caught:
        _ = synthnb.nothing
    assert caught.value.name == "nothing"  # lets Python say "Did you mean"


def test_the_type_checkers_mirror_agrees():
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (
        node for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )  # fmt: skip
    mirror = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                home = "" if node.module == "synthnb" else node.module
                mirror[alias.asname or alias.name] = home
    assert mirror == synthnb._HOME
    assert {*mirror, "__version__"} == set(synthnb.__all__)


def tracked(*suffixes: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=TOP, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [TOP / n for n in listed if n.endswith(suffixes) and (TOP / n).exists()]


def test_no_file_is_too_long():
    for path in tracked(".py", ".js"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path


def test_no_drawer_for_everything():
    names = {path.stem for path in tracked(".py")}
    assert not names & {"utils", "helpers", "util", "helper", "common", "misc"}


def test_notebooks_hold_no_outputs_and_no_widget_state():
    for path in tracked(".ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert "widgets" not in notebook["metadata"], path
        for cell in notebook["cells"]:
            assert not cell.get("outputs"), path
            assert cell.get("execution_count") is None, path


KEYLIKE = re.compile(r"\b(?:sk|gsk|hf|r8|xai|pplx)[-_][A-Za-z0-9_-]{16,}")


def test_no_file_holds_what_looks_like_a_key():
    for path in tracked(
        ".py", ".md", ".ipynb", ".toml", ".yml", ".yaml", ".json", ".html"
    ):
        found = KEYLIKE.search(path.read_text(encoding="utf-8"))
        assert found is None or "CANARY" in found[0], f"{path}: {found}"


BANNED = {
    ".py": r"\b(?:HTML|Markdown|HTMLMath|Styler|Javascript|Password)\(|\.style\b",
    ".js": r"(?:inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    r"|DOMParser|srcdoc|createContextualFragment|dangerously|https?://(?!www\.w3\.org/)",
    ".css": r"@import|url\(",
}


def test_model_text_is_never_shown_as_markup():
    looked = 0
    for path in (ROOT / "widgets").rglob("*"):
        if path.suffix in BANNED:
            looked += 1
            found = re.search(BANNED[path.suffix], path.read_text(encoding="utf-8"))
            assert found is None, f"{path}: {found}"
    assert looked > 10


def test_every_module_is_checked_by_the_type_checker():
    for path in sorted((ROOT / "widgets" / "static").glob("*.js")):
        assert path.read_text(encoding="utf-8").startswith("// @ts-check"), path


def test_nothing_but_the_ledger_reads_pickles_or_unsafe_yaml():
    banned = re.compile(r"\bpickle\.loads?\(|yaml\.load\(|\beval\(|\bexec\(")
    for path in ROOT.rglob("*.py"):
        assert not banned.search(path.read_text(encoding="utf-8")), path


def test_the_version_stands_in_one_place():
    text = (TOP / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{synthnb.__version__}"' in text


@pytest.mark.parametrize(
    "first",
    [
        "from synthnb.export import ExportResult",
        "import synthnb.export.formats",
        "import synthnb.cli.app",
        "from synthnb import export",
    ],
)
def test_export_is_the_function_whatever_was_imported_before(first):
    code = f"import synthnb as sn\n{first}\nassert callable(sn.export), sn.export\nsn.export"
    loaded_after(code)
