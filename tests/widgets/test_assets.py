"""The modules of a view joined into the one text that a front end loads."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from synthnb.widgets import assets

VIEWS = sorted(
    path.stem
    for path in (assets.files("synthnb.widgets") / "static").iterdir()
    if path.suffix == ".js" and "export default" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_one_module_without_imports(name):
    text = assets.esm(name)
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert text.count("export default") == 1


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_joined_shares_no_name(name):
    top = r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)"
    names = re.findall(top, assets.esm(name), re.MULTILINE)
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.skipif(shutil.which("node") is None, reason="no node on the PATH")
def test_the_joined_module_is_valid(name, tmp_path):
    path = tmp_path / f"{name}.mjs"
    path.write_text(assets.esm(name), encoding="utf-8")
    done = subprocess.run(
        ["node", "--check", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_what_two_modules_import_is_there_once(monkeypatch):
    files = {
        "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\nexport default b + c;\n',
        "b.js": 'import { c } from "./c.js";\nexport const b = c;\n',
        "c.js": "export const c = 1;\nexport function d() {}\nexport class E {}\n",
    }
    monkeypatch.setattr(assets, "_read", files.__getitem__)
    text = assets.esm.__wrapped__("a")
    assert text.count("const c = 1") == 1
    assert text.index("const c") < text.index("const b") < text.index("export default")
    assert "export function" not in text
    assert "export class" not in text


def test_a_circle_is_refused(monkeypatch):
    files = {
        "a.js": 'import { b } from "./b.js";\n',
        "b.js": 'import { a } from "./a.js";\n',
    }
    monkeypatch.setattr(assets, "_read", files.__getitem__)
    with pytest.raises(ValueError, match="a → b → a"):
        assets.esm.__wrapped__("a")


@pytest.mark.parametrize("name", VIEWS)
def test_every_rule_of_a_view_is_its_own(name):
    # A rule without one of our classes would change the notebook around the view.
    text = re.sub(r"/\*.*?\*/", "", assets.css(name), flags=re.DOTALL)
    for selector in re.findall(r"(?:^|[{}])\s*([^@{};]+)\{", text):
        for part in re.split(r",(?![^()]*\))", selector):
            assert ".snb" in part or re.fullmatch(r"\s*(from|to|\d+%)\s*", part), part
