"""Which language a text is in: a guess by its script and its most frequent words.

Good enough to see that a share of the answers came back in another language; not meant
for a single short text. What is not clear is "unknown".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

UNKNOWN = "unknown"
_LEAST_LETTERS = 3
_WORD = re.compile(r"[^\W\d_]+")

# Function words that stand in nearly every sentence. Those that several languages share
# ("de", "la", "en") say little, so each counts for the part that a language has in it.
_FREQUENT = {
    "English": "the of and to in is are was were that this which what who how when where "
    "for with from by on as at it its be has have not do does did can or an a you your",
    "German": "der die das den dem des ein eine einen einer und ist sind war wird werden "
    "nicht mit von für auf im in zu zum zur bei wie was wer welche wann sich auch es als",
    "French": "le la les des du de un une et est sont dans que qui quoi quel quelle pour "
    "pas sur avec ce cette au aux par plus il elle où comment ne se en l d qu",
    "Spanish": "el la los las de del un una y es son en que qué quién cuál cómo cuándo "
    "dónde por para con no se su al lo más fue como está",
    "Italian": "il lo la gli le di del della dei delle un una e è sono in che chi cosa "
    "quale come quando dove per con non si su al alla nel nella più da dal",
    "Portuguese": "o a os as do da dos das de um uma e é são em que quem qual como "
    "quando onde por para com não se no na nos nas ao mais foi",
    "Dutch": "de het een en is zijn was van in op met voor niet dat die wat wie welke hoe "
    "wanneer waar te aan bij door ook er wordt worden naar om als",
    "Polish": "i w na z do jest są się nie że to co kto jak kiedy gdzie który która dla od "
    "po przez oraz o za jego ich był była",
    "Swedish": "och i att det en ett är som på av för med inte den de till om var vad vem "
    "hur när har från eller kan ska vid",
    "Turkish": "ve bir bu için ile da de ne kim nasıl nerede hangi olarak olan değil çok "
    "en mi mı daha gibi var kadar sonra",
    "Russian": "и в не на что это как с по к из за от для кто где когда какой у о он она "
    "они был была есть является",
    "Ukrainian": "і в не на що це як з по до із за від для хто де коли який у про він вона "
    "вони був була є та",
}
_SCRIPTS = (
    ("Japanese", "\u3040-\u30ff"),
    ("Korean", "\uac00-\ud7af\u1100-\u11ff"),
    ("Chinese", "\u4e00-\u9fff\u3400-\u4dbf"),
    ("Arabic script", "\u0600-\u06ff\u0750-\u077f"),
    ("Hebrew", "\u0590-\u05ff"),
    ("Devanagari script", "\u0900-\u097f"),
    ("Thai", "\u0e00-\u0e7f"),
    ("Greek", "\u0370-\u03ff"),
)
_BY_SCRIPT = tuple((name, re.compile(f"[{span}]")) for name, span in _SCRIPTS)
_OTHER_SCRIPT = re.compile(f"[{''.join(span for _, span in _SCRIPTS)}]")
# Kana among Han characters is Japanese: in running text every few characters are kana.
_KANA_SHARE = 0.1
_LEAST_HITS = 1.2
_LEAST_SHARE = 0.12
_LEAD = 1.15


def _weights() -> dict[str, list[tuple[str, float]]]:
    languages = {name: set(words.split()) for name, words in _FREQUENT.items()}
    shared = Counter(word for words in languages.values() for word in words)
    weights: dict[str, list[tuple[str, float]]] = {}
    for name, words in languages.items():
        for word in words:
            weights.setdefault(word, []).append((name, 1 / shared[word]))
    return weights


_WEIGHTS = _weights()


def guess_language(text: str) -> str:
    """Return a language's English name, or "unknown".

    Example:
        >>> guess_language("What is the length of the Danube?")
        'English'
        >>> guess_language("2,850 km")
        'unknown'
    """
    text = text[:1000]
    if not text.isascii() and (found := _by_script(text)):
        return found
    listed = _WORD.findall(text.casefold())
    scores: Counter[str] = Counter()
    for word in listed:
        for name, weight in _WEIGHTS.get(word, ()):
            scores[name] += weight  # type: ignore[assignment]  # a tally of floats
    ranked = scores.most_common(2)
    if not ranked:
        return UNKNOWN
    name, score = ranked[0]
    rival = ranked[1][1] if len(ranked) > 1 else 0
    clear = score >= _LEAST_HITS and score >= _LEAST_SHARE * len(listed)
    return name if clear and score >= _LEAD * rival else UNKNOWN


def tally_languages(texts: Iterable[str]) -> Counter[str]:
    """Count texts by the language that they seem to be in."""
    return Counter(guess_language(text) for text in texts)


def _by_script(text: str) -> str | None:
    """Return the language of a script that one language is known by, if it prevails."""
    of_these = len(_OTHER_SCRIPT.findall(text))
    letters = sum(map(str.isalpha, text))
    if of_these < _LEAST_LETTERS or of_these * 2 < letters:
        return None
    found = {name: len(pattern.findall(text)) for name, pattern in _BY_SCRIPT}
    if found["Japanese"] >= _KANA_SHARE * of_these:
        return "Japanese"
    return max(found, key=lambda name: found[name])
