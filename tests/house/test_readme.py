"""The README's code: its names exist, its commands are understood. No model runs."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer.main

import synthnb
from synthnb.cli.app import app

TOP = Path(__file__).parents[2]
README = (TOP / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def names_of_synthnb(code: str) -> set[str]:
    return set(re.findall(r"\bsn\.(\w+)", code))


def shell_lines() -> list[str]:
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    return [line for line in lines if line.startswith("synthnb ")]


def test_there_are_blocks_of_both_kinds():
    assert len(blocks("python")) >= 2
    assert len(shell_lines()) >= 3


@pytest.mark.parametrize("name", sorted(names_of_synthnb(README)))
def test_a_name_in_the_readme_exists(name):
    assert name in synthnb.__all__
    assert getattr(synthnb, name) is not None


@pytest.mark.parametrize("method", sorted(set(re.findall(r"\brun\.(\w+)\(", README))))
def test_a_method_of_a_run_exists(method):
    assert callable(getattr(synthnb.Run, method))


@pytest.mark.parametrize("code", blocks("python"))
def test_a_python_block_parses_and_names_real_arguments(code):
    import inspect

    # `await` at the top, as a notebook's cell has it.
    tree = compile(
        code, "README", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("sn."):
            target = getattr(synthnb, ast.unparse(node.func).removeprefix("sn."))
            parameters = inspect.signature(target).parameters
            for keyword in node.keywords:
                assert keyword.arg in parameters, ast.unparse(node)


def test_every_name_in_the_python_blocks_is_defined_in_them():
    import builtins

    code = "\n".join(blocks("python"))
    tree = compile(
        code, "README", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    made |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {n.id for n in names} - made - set(dir(builtins)) == set()


@pytest.mark.parametrize("line", shell_lines())
def test_a_command_is_understood(line):
    group = typer.main.get_command(app)
    words = shlex.split(line, comments=True)[1:]
    context = group.make_context("synthnb", list(words))
    _, command, rest = group.resolve_command(context, words)
    command.make_context(words[0], list(rest), parent=context)


def test_the_readmes_promises_of_place_hold():
    for link in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (TOP / link).exists(), link
    targets = re.findall(r"^make (\w+)", "\n".join(blocks("bash")), re.MULTILINE)
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{target}:" in makefile for target in targets)
