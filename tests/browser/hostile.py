"""Texts that a hostile model or document may hold, for every place where text is shown.

Each script among them would set ``window.hit`` or ask for ``BEACON``; neither may happen.
"""

from __future__ import annotations

BEACON = "http://beacon.example.invalid"
HIT = "window.hit=1"

STRINGS = (
    # scripts and elements that act
    f"<script>{HIT}</script>",
    f"</script><script>{HIT}</script>",
    f"<img src=x onerror={HIT}>",
    f'"><img src=x onerror="{HIT}">',
    f"'><svg onload={HIT}>",
    f"<svg><script>{HIT}</script></svg>",
    f"<svg><animate onbegin={HIT} attributeName=x dur=1s>",
    f"<body onload={HIT}>",
    f"<details open ontoggle={HIT}>x</details>",
    f"<input autofocus onfocus={HIT}>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    f"<iframe src=javascript:parent.{HIT}></iframe>",
    f"<object data='data:text/html,<script>parent.{HIT}</script>'></object>",
    f"<math><mi xlink:href='javascript:{HIT}'>x</mi></math>",
    f"<a href='javascript:{HIT}' autofocus onfocus={HIT}>click</a>",
    f"<form><button formaction=javascript:{HIT}>go</button></form>",
    f"<marquee onstart={HIT}>x</marquee>",
    f"<video><source onerror={HIT}></video>",
    f"<template><script>{HIT}</script></template>",
    f"<xss id=x tabindex=1 onfocus={HIT}></xss>",
    f"<!--><script>{HIT}</script-->",
    f"<noscript><p title='</noscript><img src=x onerror={HIT}>'>",
    f"<style>@import '{BEACON}/style.css'; * {{ display: none !important }}</style>",
    f"<link rel=stylesheet href={BEACON}/style.css>",
    f"<meta http-equiv=refresh content='0;url={BEACON}'>",
    f"<base href={BEACON}/>",
    # things that would be fetched
    f"<img src={BEACON}/pixel.png>",
    f"![picture]({BEACON}/markdown.png)",
    f"[link]({BEACON}) <{BEACON}/auto>",
    f"<audio src={BEACON}/sound.wav autoplay>",
    f"background:url({BEACON}/css.png)",
    f"<svg><image href={BEACON}/svg.png></svg>",
    f"<svg><use href='{BEACON}/use.svg#x'></svg>",
    # other languages' ways in
    "{{ constructor.constructor('window.hit=1')() }}",
    "${window.hit=1}",
    "`${window.hit=1}`",
    "{% for x in ().__class__.__base__.__subclasses__() %}x{% endfor %}",
    "$\\href{javascript:window.hit=1}{x}$ $$\\unicode{x}$$",
    "\\u003cscript\\u003ewindow.hit=1\\u003c/script\\u003e",
    "&lt;script&gt;window.hit=1&lt;/script&gt;&#60;img src=x onerror=window.hit=1&#62;",
    "javascript:window.hit=1",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cuaGl0PTE8L3NjcmlwdD4=",
    "__proto__",
    "constructor",
    "</div></div></div></td></table></body></html>",
    '=HYPERLINK("' + BEACON + '","x")',
    # text that deceives or breaks a layout
    "safe \u202etxt.exe\u202c end",
    "\u2066isolated\u2069 and \u202dleft\u202c",
    "\x1b[31mred\x1b[0m \x1b]8;;" + BEACON + "\x07link\x1b]8;;\x07",
    "nul \x00 bell \x07 backspace \x08\x08\x08",
    "Z" + "\u0300\u0301\u0302\u0303" * 400,
    "\ufdfd" * 60,
    "\u200b" * 500 + "zero width",
    "lone \ud800 surrogate \udfff",
    "\ufeffbyte order mark",
    "line\u2028separator\u2029paragraph",
    "W" * 1_000_000,
    "line\n" * 5_000,
    "\t" * 2_000 + "tabs",
    " " * 5_000 + "spaces",
    "مرحبا بالعالم 123 שלום",
    "👩‍👩‍👧‍👦" * 300,
)
