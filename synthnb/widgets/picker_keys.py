"""Which key a picker uses for which server. A typed key stays with the server it was typed for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synthnb.errors import ConfigError
from synthnb.providers.key_offers import (
    DotEnv,
    KeyOffer,
    Offers,
    offers_for,
    origin_text,
    read_dotenv,
)
from synthnb.providers.secrets import Key
from synthnb.providers.urls import is_loopback

NONE, TYPED = "none", "typed"


@dataclass(frozen=True, slots=True)
class Target:
    """The server that a form names now."""

    base_url: str
    variable: str | None = None
    """The variable that is surely this server's (a preset's)."""
    by_caller: bool = False
    """Whether code named it, not a person's typing."""

    @property
    def origin(self) -> str:
        """What a key is bound to, as people read it."""
        return origin_text(self.base_url)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The key for one server as things stand. Its text holds no character of the key."""

    choice: str
    key: Key
    label: str
    offers: Offers
    tag: tuple[str, int]
    """Two keys with one tag are the same: tells whether a result is still true."""

    @property
    def is_set(self) -> bool:
        """Whether there is a key to send."""
        return self.key.is_set


@dataclass(slots=True)
class KeyChoices:
    """The keys that were typed, and what was chosen, a server at a time."""

    env_file: Path | None = None
    _typed: dict[str, Key] = field(default_factory=dict, repr=False)
    _chosen: dict[str, str] = field(default_factory=dict)
    _keyring: dict[str, KeyOffer] = field(default_factory=dict, repr=False)
    _serials: dict[str, int] = field(default_factory=dict)

    def type(self, target: Target, key: Key) -> None:
        """Keep a typed key, for this server only, and choose it.

        Raises:
            ConfigError: there is none, or it refers to a variable that is not set.
        """
        if not key.reveal():
            raise ConfigError("no key was typed", hint="paste it, then press Set")
        self._typed[target.origin] = key
        self._chosen[target.origin] = TYPED
        self._serials[target.origin] = self._serials.get(target.origin, 0) + 1

    def forget(self, target: Target) -> None:
        """Drop the key that was typed for this server."""
        self._typed.pop(target.origin, None)
        if self._chosen.get(target.origin) == TYPED:
            del self._chosen[target.origin]

    def choose(self, target: Target, choice: str) -> None:
        """Choose an offer by its id, or ``"none"``, or the key that was typed.

        Raises:
            ConfigError: there is no such key for this server.
        """
        known = {NONE, *(offer.id for offer in self.offers(target).found)}
        if target.origin in self._typed:
            known.add(TYPED)
        if choice not in known:
            raise ConfigError(
                "that key is not there any more", hint="choose another, or paste one"
            )
        self._chosen[target.origin] = choice

    def from_keyring(self, target: Target, offer: KeyOffer | None) -> None:
        """Note what the keyring holds for this server."""
        self._keyring.pop(target.origin, None)
        if offer is not None:
            self._keyring[target.origin] = offer

    def offers(self, target: Target) -> Offers:
        """Return the keys that were found for a server; reads the environment anew."""
        dotenv = DotEnv() if self.env_file is None else read_dotenv(self.env_file)
        offers = offers_for(
            target.base_url,
            variable=target.variable,
            dotenv=dotenv,
            by_caller=target.by_caller,
        )
        kept = self._keyring.get(target.origin)
        found = (*offers.found, *([kept] if kept else []))
        return Offers(found, offers.notes, offers.warnings)

    def of(self, target: Target) -> Chosen:
        """Return the key for a server: the one chosen, else one surely bound to it."""
        offers = self.offers(target)
        choice = self._chosen.get(target.origin, "")
        typed = self._typed.get(target.origin)
        if choice == TYPED and typed is not None:
            label = f"typed here for {target.origin}"
            tag = (TYPED, self._serials[target.origin])
            return Chosen(TYPED, typed, label, offers, tag)
        offer = offers.named(choice) or (None if choice == NONE else offers.bound)
        if offer is None:
            return Chosen(NONE, Key(), "", offers, (NONE, 0))
        return Chosen(offer.id, offer.key, offer.label, offers, (offer.id, 0))

    def state(self, target: Target | None, *, needed: bool) -> dict[str, Any]:
        """Return what the page shows of the key: from where, and what else there is."""
        if target is None:
            return {
                "set": False,
                "choice": NONE,
                "offers": [],
                "notes": [],
                "warnings": [],
            }
        chosen = self.of(target)
        offers = [{"id": o.id, "label": o.label} for o in chosen.offers.found]
        if target.origin in self._typed:
            offers.append({"id": TYPED, "label": "typed here"})
        return {
            "set": chosen.is_set,
            "from": chosen.label,
            "choice": chosen.choice,
            "typed": target.origin in self._typed,
            "offers": offers,
            "needed": needed,
            "origin": target.origin,
            "notes": [*chosen.offers.notes, *self._notes(target, chosen)],
            "warnings": list(chosen.offers.warnings),
        }

    def _notes(self, target: Target, chosen: Chosen) -> list[str]:
        notes: list[str] = []
        others = [origin for origin in self._typed if origin != target.origin]
        if others and not chosen.is_set:
            notes.append(
                f"the key typed for {' and '.join(others)} is not sent to {target.origin}"
            )
        waiting = [o.label for o in chosen.offers.found if not o.bound]
        if waiting and chosen.choice == NONE:
            notes.append(
                f"{' and '.join(waiting)} names no server: it is sent to "
                f"{target.origin} only if you choose it"
            )
        open_way = target.base_url.startswith("http:")
        if chosen.is_set and open_way and not is_loopback(target.base_url):
            notes.append("over http:// the key crosses the network unencrypted")
        return notes
