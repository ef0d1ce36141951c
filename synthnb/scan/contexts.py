"""Keys that only their surroundings give away: a name, a header, a cut-off prefix."""

from __future__ import annotations

import base64
import binascii
import re

from synthnb.scan.randomness import is_mixed, is_orderly, is_placeholder, looks_random
from synthnb.scan.rules import Rule

_SERVICES = (
    "openai|azure|anthropic|claude|hf|hugging_?face|groq|mistral|cohere|together|gemini|"
    "google|deepseek|replicate|wandb|pinecone|serp|tavily|langchain|langsmith|github|"
    "gitlab|slack|openrouter|synthnb|kaggle"
)
_STRONG = (
    r"(?:api|access|secret|auth|client|private|signing|encryption|account|bearer|"
    r"refresh|subscription|master|webhook)[_ -]?(?:key|token|secret)"
    rf"|(?:{_SERVICES})[_-]?(?:api[_-]?)?(?:key|token|secret)"
)
_WORDS = (
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "credential",
)
# Tokens of a tokenizer and of a list's next page are no secrets.
_WEAK = (
    r"(?<![a-z])(?<!page_)(?<!next_)(?<!eos_)(?<!bos_)(?<!pad_)(?<!csrf_)(?<!cursor_)"
    r"(?:token|secret|password|passwd|passphrase|pwd|credential)"
)
_NAME = re.compile(rf"(?i:(?P<strong>{_STRONG})|{_WEAK})$")
_OPTION = re.compile(r"(?i:(?:^|\s)--[a-z-]{1,30}|%(?:set_)?env\s{1,4}\w{1,40})$")
_LONGEST_NAME = 48
# `name = "…"`, `"name": "…"`, `name: SecretStr = SecretStr("…")`, `environ["name"] = "…"`,
# `("name", "…")`, `NAME=…`, `--name …`
_ASSIGNED = re.compile(
    rf"(?P<word>(?i:{'|'.join(_WORDS)}))s?(?:_?[0-9]{{1,2}})?"
    r"(?P<named>[\"']?)\]?"
    r"(?:\s{0,4}:\s{0,2}[A-Za-z_][A-Za-z_.|\[\] ]{0,30}(?==))?"
    r"(?P<sign>\s{0,8}(?:=>|:=|==?|!=|[:,])\s{0,8}|[ ]{1,4})"
    r"(?:[A-Za-z_][A-Za-z_.]{0,40}\()?[rbfuRBFU]{0,2}"
    r"(?P<quote>[\"'])?(?P<key>[A-Za-z0-9_+/=.~:!@#$%^&*-]{12,512})(?(quote)(?P=quote))"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RUN = 12
"""Letters and digits in a row: more than a word or a version has."""
_UNQUOTED = 16


def is_secret(value: str, *, strong: bool) -> bool:
    """Return whether a value, assigned to a name of this strength, looks like a key."""
    if _UUID.fullmatch(value):
        # Some services hand out UUIDs as keys; most UUIDs are none.
        return strong and not is_orderly(value)
    return looks_random(value, run=_RUN)


def names_a_secret(name: str) -> bool | None:
    """Return whether an entry's name is one of a secret; None if it is not."""
    match = _NAME.search(name[-_LONGEST_NAME:])
    return None if match is None else match["strong"] is not None


def _assigned(match: re.Match[str]) -> bool:
    text, end = match.string, match.end()
    before = text[max(0, match.start() - _LONGEST_NAME) : match.end("word")]
    strong = names_a_secret(before)
    if strong is None:
        return False
    quoted, sign = match["quote"], match["sign"].strip()
    if not sign and not _OPTION.search(before):
        return False
    if sign == "," and not (quoted and match["named"]):
        return False
    value = match["key"]
    if sign and not quoted:
        code = text[end : end + 1] in {"(", "["} or "." in value[:-1]
        if code or len(value) < _UNQUOTED:
            return False  # a call, an item, an attribute, a name
    return is_secret(value, strong=strong or not sign)


def _header(match: re.Match[str]) -> bool:
    token = match["key"]
    if match["scheme"].lower() == "basic":
        try:
            user, colon, password = base64.b64decode(token).partition(b":")
        except (binascii.Error, ValueError):
            return False
        words = {b"password", b"pass", b"passwd", b"secret", user}
        return bool(colon) and password not in words
    return looks_random(token, run=8)


_HEADS = (
    "sk-", "hf_", "gsk_", "github_pat_", "AIza", "AKIA", "ASIA", "nvapi-", "xai-",
    "pplx-", "r8_", "csk-", "glpat-", "ghp_", "gho_", "ghs_", "xoxb-", "xoxp-",
)  # fmt: skip
_HEAD = "|".join(re.escape(head) for head in _HEADS)
# What follows `sk-` in every key of its kind, and so tells nothing.
_FAMILY = (
    r"(?:proj-?|svcacct-?|admin-?|or-v1-?|ant-(?:api|oat|sid|admin)[0-9]{2}-?|ant-)?"
)
_DRAWN = 0.34
_ONE_WORD = 4


def _tells(part: str) -> bool:
    """Return whether some characters were drawn: "Ab" and "9f3b", not "key" or "api03"."""
    if len(part) >= _ONE_WORD and is_placeholder(part):
        return False
    runs = re.findall("[A-Za-z0-9]{2,}", part)
    return any(is_mixed(run, _DRAWN) and not is_placeholder(f"-{run}-") for run in runs)


def _elided(match: re.Match[str]) -> bool:
    return _tells(match["body"]) or _tells(match["tail"])


def _cut_off(match: re.Match[str]) -> bool:
    return _tells(match["body"])


CONTEXT_RULES: tuple[Rule, ...] = (
    Rule(
        "Authorization header",
        ("authorization",),
        re.compile(
            r"(?i:authorization)[\"']?\]?\s{0,4}[:=,]\s{0,4}[rbfu]{0,2}[\"']?"
            r"(?P<scheme>(?i:bearer|basic|token|key))\s{1,4}"
            r"(?P<key>[A-Za-z0-9._~+/=-]{8,4096})"
        ),
        _header,
        folded=True,
    ),
    Rule(
        "Authorization header",
        ("bearer ",),
        re.compile(
            r"(?P<scheme>(?i:bearer)) {1,4}(?P<key>[A-Za-z0-9._~+/=-]{16,4096})"
        ),
        _header,
        folded=True,
    ),
    Rule(
        "value assigned to the name of a secret",
        _WORDS,
        _ASSIGNED,
        _assigned,
        folded=True,
    ),
    Rule(
        "part of a key",
        _HEADS,
        re.compile(
            rf"(?P<head>{_HEAD})(?<![A-Za-z0-9_-]sk-)(?<![A-Za-z0-9_-]hf_)"
            rf"{_FAMILY}(?P<body>[A-Za-z0-9_-]{{0,60}})"
            r"(?:…|\.{2,64}|\*{3,512}|•{3,512}|\[\.\.\.\])(?P<tail>[A-Za-z0-9_-]{0,12})"
        ),
        _elided,
    ),
    Rule(
        "part of a key",
        ("sk-", "nvapi-", "github_pat_", "glpat-", "AIza", "AKIA", "hf_"),
        re.compile(
            r"(?<![A-Za-z0-9_+/-])(?:sk-(?:proj-|svcacct-|admin-|or-v1-|"
            r"ant-[a-z]{2,6}[0-9]{2}-)|nvapi-|github_pat_|glpat-|AIza|AKIA|"
            r"(?:sk-|hf_)(?=[A-Za-z0-9]{6}))"
            r"(?P<body>[A-Za-z0-9_-]{2,19})(?![A-Za-z0-9_+/=-])"
        ),
        _cut_off,
        outputs_only=True,
    ),
)
