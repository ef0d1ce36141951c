"""Names under which models write the keys that were asked for, in several languages."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

Aliases: TypeAlias = Mapping[str, Iterable[str]]

KEY_ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "question": (
            "q", "query", "prompt", "instruction", "question_text", "frage", "pregunta",
            "pergunta", "domanda", "vraag", "pytanie", "fråga", "spørgsmål", "kysymys",
            "soru", "вопрос", "питання", "سؤال", "السؤال", "پرسش", "שאלה", "प्रश्न",
            "প্রশ্ন", "câu hỏi", "pertanyaan", "คำถาม", "问题", "問題", "質問", "질문", "ερώτηση",
        ),
        "answer": (
            "a", "answers", "response", "responses", "reply", "output", "answer_text",
            "antwort", "réponse", "respuesta", "resposta", "risposta", "antwoord",
            "odpowiedź", "svar", "vastaus", "cevap", "yanıt", "ответ", "відповідь",
            "جواب", "الجواب", "إجابة", "الإجابة", "پاسخ", "תשובה", "उत्तर", "উত্তর", "câu trả lời",
            "jawaban", "คำตอบ", "答案", "回答", "答え", "답변", "απάντηση",
        ),
        "evidence": (
            "source_sentence", "supporting_sentence", "quote", "citation", "beleg",
            "preuve", "evidencia", "دليل", "证据", "根拠", "근거",
        ),
        "reason": (
            "reasoning", "rationale", "explanation", "justification", "comment",
            "begründung", "raison", "razón", "سبب", "理由", "이유",
        ),
        "rating": ("score", "grade", "bewertung", "puntuación", "评分", "評価"),
    }
)  # fmt: skip
"""Field → other spellings. ``answers`` may hold a list: its first item is taken."""


def normal_key(key: str) -> str:
    """Return a key as it is compared: NFKC, case folded, no space, ``_``, ``-``, ``:``."""
    folded = unicodedata.normalize("NFKC", key).casefold()
    return "".join(c for c in folded if not (c.isspace() or c in "_-:.*\"'"))


def lookup(fields: Iterable[str], extra: Aliases | None = None) -> dict[str, str]:
    """Return normalised key → field, for the fields and all their aliases.

    A field's own name wins over an alias of another one.

    Args:
        fields: the fields that are wanted.
        extra: more aliases, field → names; they stand before the built-in ones.
    """
    names = tuple(fields)
    table = {normal_key(name): name for name in names}
    for source in (extra or {}, KEY_ALIASES):
        for field in names:
            for alias in source.get(field, ()):
                table.setdefault(normal_key(alias), field)
    return table
