"""Its settings as arguments of ours."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from synthnb.config import Limits, Retry
from synthnb.migration.prompts import converted
from synthnb.providers.provider import Provider
from synthnb.providers.sdk_config import SdkConfig
from synthnb.recipes import QA, ChainOfThought, Judge

_CHARS = 4
"""Characters of a token: its sizes are in characters, ours in tokens."""
_LEAST_CHUNK = 16


class Configuration(SdkConfig):
    """A ``config.yaml`` of synthetic-data-kit; see ``config_from_sdk``."""

    @property
    def provider(self) -> Provider:
        """The one provider, whichever section is chosen."""
        return Provider.from_config(self)

    @property
    def limits(self) -> Limits:
        """Requests at once at most (``generation.batch_size``), and the retries."""
        retry = Retry(
            max_attempts=max(1, self.of("max_retries")),
            base_seconds=max(0.01, self.of("retry_delay")),
        )
        return Limits(max_concurrency=self["generation.batch_size"], retry=retry)

    @property
    def chunk_tokens(self) -> int:
        """``generation.chunk_size``, which is in characters, in tokens: an estimate."""
        return int(max(_LEAST_CHUNK, self["generation.chunk_size"] // _CHARS))

    @property
    def overlap(self) -> int:
        """``generation.overlap`` in tokens; less than a chunk."""
        return int(min(self["generation.overlap"] // _CHARS, self.chunk_tokens // 2))

    def qa(self, chunks: int, pairs: int | None = None) -> QA:
        """Return the recipe for a document of so many chunks.

        Its number of pairs is for the document; ours is for a chunk, so that the last
        page has its questions too. There may be more pairs than wanted, never fewer
        chunks.

        Args:
            chunks: of the document.
            pairs: wanted for the document; ``generation.num_pairs`` if not given.
        """
        wanted = self["generation.num_pairs"] if pairs is None else pairs
        return QA(
            pairs=max(1, math.ceil(wanted / max(1, chunks))),
            temperature=self["generation.temperature"],
            max_tokens=self["generation.max_tokens"],
        )

    def chain_of_thought(
        self, chunks: int, examples: int | None = None
    ) -> ChainOfThought:
        """Return the recipe for a document of so many chunks, as ``qa`` does.

        Args:
            chunks: of the document.
            examples: for the document; ``generation.num_cot_examples`` if not given.
        """
        wanted = self["generation.num_cot_examples"] if examples is None else examples
        return ChainOfThought(
            examples=max(1, math.ceil(wanted / max(1, chunks))),
            temperature=self["generation.temperature"],
        )

    @property
    def judge(self) -> Judge:
        """The judge, at ``curate.temperature``; keep from ``curate.threshold`` on."""
        return Judge(temperature=self["curate.temperature"])

    @property
    def templates(self) -> dict[str, str]:
        """The file's own prompts, converted; ``num_pairs`` and its like are put in."""
        values = {
            "num_pairs": self["generation.num_pairs"],
            "num_examples": self["generation.num_cot_examples"],
        }
        prompts = {
            n.partition(".")[2]: self[n] for n in self if n.startswith("prompts.")
        }
        return {
            name: converted(text, values)
            for name, text in prompts.items()
            if text is not None
        }

    def __repr__(self) -> str:
        """Return the table of the settings, and the prompts as they were converted."""
        shown = [super().__repr__()]
        shown += [f"prompt {name}:\n{text}" for name, text in self.templates.items()]
        return "\n".join(shown)


def config_from_sdk(
    path: str | os.PathLike[str] | None, changes: Mapping[str, Any] | None = None
) -> Configuration:
    """Read synthetic-data-kit's ``config.yaml``.

    ::

        config = sn.config_from_sdk("config.yaml", {"generation.num_pairs": 10})
        config  # each value with its origin, the prompts as they were converted
        run = sn.generate(
            config.qa(len(chunks)), chunks, config.provider, limits=config.limits
        )

    Args:
        path: the file; a part of it will do, the rest are its defaults, key by key.
            ``None`` takes the defaults alone.
        changes: dotted name → value, which go before the file's.

    Raises:
        ConfigError: it cannot be read; a value has a wrong type, named by its path.
    """
    return Configuration(path, changes)
