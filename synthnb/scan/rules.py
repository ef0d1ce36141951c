"""The kinds of keys, one row each.

Every pattern begins with a literal, is tried only where that stands, and looks back from
there; repetitions are bounded, or follow a place where only one attempt can begin. A scan
takes time in proportion to the text, whoever wrote it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from synthnb.scan.randomness import bits, is_orderly, is_placeholder, looks_random

Check = Callable[["re.Match[str]"], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind: the literals that it begins with, a pattern, and a second look.

    The group ``key`` is what is secret; without one it is the whole match. A ``folded``
    rule finds its literals whatever their case.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Check
    folded: bool = False
    outputs_only: bool = False

    def spans(self, text: str, folded: str) -> Iterator[tuple[int, int]]:
        """Yield where the text holds a key of this kind."""
        hay = folded if self.folded else text
        group = "key" if "key" in self.pattern.groupindex else 0
        for needle in self.needles:
            at = hay.find(needle)
            while at >= 0:
                match = self.pattern.match(text, at)
                at += len(needle)
                if match is not None and self.check(match):
                    yield match.span(group)
                    at = max(at, match.end())
                at = hay.find(needle, at)


def _is_random(match: re.Match[str]) -> bool:
    return looks_random(match["body"], run=_RUN)


def _is_drawn(match: re.Match[str]) -> bool:
    """Return whether letters alone look drawn: Hugging Face uses no digits."""
    body = match["body"]
    both_cases = body != body.lower() and body != body.upper()
    return both_cases and bits(body) > _LETTER_BITS and not is_placeholder(body)


def _prefixed(kind: str, prefix: str, body: str, check: Check = _is_random) -> Rule:
    # Base64 has letters, digits, + and /: a prefix made of these alone must not begin
    # within it. What JSON or repr() wrote as \n, and a URL as %22, may stand before.
    before = "[A-Za-z0-9_-]" if re.search("[-_.]", prefix) else "[A-Za-z0-9_+/-]"
    own = re.escape(prefix)
    after = r"(?![A-Za-z0-9_+/=-])" if before.endswith("+/-]") else ""
    escaped = rf"(?:(?<=\\[nrt]{own})|(?<=%[0-9A-F][0-9A-F]{own}))"
    start = rf"{own}(?:(?<!{before}{own})|{escaped})"
    return Rule(kind, (prefix,), re.compile(rf"{start}(?P<body>{body}){after}"), check)


def _aws(match: re.Match[str]) -> bool:
    return not is_placeholder(match["body"]) and not is_orderly(match["body"])


def _jwt(match: re.Match[str]) -> bool:
    header, payload = _decoded(match["header"]), _decoded(match["payload"])
    # The one with John Doe is the example of jwt.io, in a thousand tutorials.
    return b'"alg"' in header and b"John Doe" not in payload


def _decoded(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part[:4000] + "=" * (-len(part[:4000]) % 4))
    except (binascii.Error, ValueError):
        return b""


def _private_key(match: re.Match[str]) -> bool:
    content = re.sub(r"\\[nr]|[\s\"'+,\\]", "", match["content"])
    lines = re.sub(r"(?:Proc-Type|DEK-Info|Version|Comment):.*", "", content)
    begins = re.match(r"[A-Za-z0-9/]{32}", lines)
    return begins is not None and not is_orderly(begins[0])


def _url(match: re.Match[str]) -> bool:
    user, password = match["user"].lower(), match["key"].lower()
    if password == user or password in _DUMMIES or is_placeholder(password):
        return False
    return not re.search(r"[*\[\]()]", password)


_DUMMIES = frozenset(
    (
        "pass", "passwd", "password", "pwd", "pw", "user", "username", "root", "admin",
        "guest", "postgres", "mysql", "secret", "token", "key", "mypassword", "mypass",
        "changeit", "1234", "12345", "123456", "xxx",
    )
)  # fmt: skip

_RUN = 7
"""Letters and digits in a row behind a prefix: separators are part of some alphabets."""
_LETTER_BITS = 3.5
_RUN_20 = "[A-Za-z0-9_-]{20,}"
_PREFIXED = (
    ("Anthropic key", "sk-ant-", _RUN_20),
    ("OpenAI-like key", "sk-", "[A-Za-z0-9_-]{16,}"),
    *(("GitHub token", f"gh{c}_", "[A-Za-z0-9]{36,}") for c in "pousr"),
    ("GitHub token", "github_pat_", "[A-Za-z0-9_]{36,}"),
    ("GitLab token", "glpat-", _RUN_20),
    ("Google API key", "AIza", "[A-Za-z0-9_-]{35}"),
    ("Google OAuth secret", "GOCSPX-", _RUN_20),
    ("Google access token", "ya29.", "[A-Za-z0-9_-]{30,}"),
    *(("Slack token", f"xox{c}-", "[A-Za-z0-9-]{20,}") for c in "abeoprs"),
    ("Slack token", "xapp-", "[A-Za-z0-9-]{20,}"),
    ("Slack webhook", "hooks.slack.com/services/", "T[A-Za-z0-9_/]{30,}"),
    ("Groq key", "gsk_", "[A-Za-z0-9]{32,}"),
    ("xAI key", "xai-", "[A-Za-z0-9]{32,}"),
    ("Perplexity key", "pplx-", "[A-Za-z0-9]{32,}"),
    ("Replicate token", "r8_", "[A-Za-z0-9]{30,}"),
    ("NVIDIA key", "nvapi-", "[A-Za-z0-9_-]{40,}"),
    ("Cerebras key", "csk-", "[A-Za-z0-9]{32,}"),
    ("Fireworks key", "fw_", "[A-Za-z0-9]{20,}"),
    ("LangSmith key", "lsv2_", "[A-Za-z0-9_]{36,}"),
    *(("Stripe key", f"{k}_{m}_", "[A-Za-z0-9]{20,}")
      for k in ("sk", "rk") for m in ("live", "test")),
    ("PyPI token", "pypi-", "AgE[A-Za-z0-9_-]{50,}"),
    ("npm token", "npm_", "[A-Za-z0-9]{36}"),
    ("SendGrid key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("Databricks token", "dapi", "[0-9a-f]{32}"),
)  # fmt: skip

RULES: tuple[Rule, ...] = (
    *(_prefixed(*row) for row in _PREFIXED),
    *(
        _prefixed("Hugging Face token", prefix, "[A-Za-z0-9]{30,}", _is_drawn)
        for prefix in ("hf_", "api_org_")
    ),
    *(
        _prefixed("AWS access key id", prefix, "[A-Z2-7]{16}", _aws)
        for prefix in ("AKIA", "ASIA")
    ),
    Rule(
        "JSON web token",
        ("eyJ",),
        re.compile(
            r"(?P<header>eyJ(?<![A-Za-z0-9_+/-]eyJ)[A-Za-z0-9_-]{8,})"
            r"\.(?P<payload>[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{16,}"
        ),
        _jwt,
    ),
    Rule(
        "private key",
        ("-----BEGIN ",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            r"(?P<content>[^-]{0,1000})[^-]{0,20000}"
            r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        _private_key,
    ),
    Rule(
        "URL with a password",
        ("://",),
        re.compile(
            r"://(?P<user>[^\s:/@\"'<>\\\x00?#&,;]{0,128})"
            r":(?P<key>[^\s/@\"'<>\\\x00?#&,;]{3,256})@(?=[A-Za-z0-9\[])"
        ),
        _url,
    ),
)
