"""``Provider``: where an OpenAI-compatible API lives, with which model and key."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from synthnb.errors import ConfigError
from synthnb.providers.headers import ExtraHeaders
from synthnb.providers.local import Launcher, make_launcher
from synthnb.providers.origins import settle
from synthnb.providers.preflight import nothing_listens, refused
from synthnb.providers.presets import preset_at, preset_named
from synthnb.providers.prices import Price, price_of
from synthnb.providers.sdk_config import SdkConfig
from synthnb.providers.secrets import Key, KeySource
from synthnb.providers.urls import normalise

if TYPE_CHECKING:
    from openai import AsyncOpenAI  # noqa: TID251 - for the type checker only

    from synthnb.config import Limits
    from synthnb.providers.protocol import ChatClient
    from synthnb.providers.report import CheckReport, Step

_DEFAULT_CONCURRENCY = 256
"""A ceiling, not a wish: a run finds below it what the server takes."""
_FIELDS = (
    "base_url",
    "model",
    "origins",
    "notes",
    "price",
    "_concurrency",
    "_headers",
    "_key",
)


class Provider:
    """An endpoint, a model and a reference to a key. Immutable; touches no network.

    What is not given comes from ``SYNTHNB_BASE_URL``, ``SYNTHNB_MODEL`` and
    ``SYNTHNB_API_KEY``; ``origins`` says for each value where it came from. The key of
    the environment goes only to the environment's URL, or to the one that the caller
    names where the environment names none.

    Attributes:
        base_url: the normalised base URL; ``None`` until a local model was launched.
        model: the model's id; ``None`` takes the only one that the server lists.
        origins: ``base_url``, ``model``, ``api_key`` → "argument", "environment
            SYNTHNB_MODEL", "preset openai", "default".
        notes: what was changed in the URL.
        price: what the caller gave; see ``known_price``.
    """

    __slots__ = (*_FIELDS, "_local", "_sdk")

    base_url: str | None
    model: str | None
    origins: Mapping[str, str]
    notes: tuple[str, ...]
    price: Price | None
    _key: Key
    _headers: ExtraHeaders
    _concurrency: int | None
    _local: tuple[str | None, dict[str, Any]] | None
    _sdk: AsyncOpenAI | None

    def __init__(
        self,
        base_url: str | None = None,
        model: str | None = None,
        api_key: KeySource = None,
        *,
        concurrency: int | None = None,
        headers: Mapping[str, KeySource] | None = None,
        price: Price | None = None,
    ) -> None:
        """Check and keep the values; nothing is sent.

        Args:
            base_url: as pasted; it is normalised (``host:8000`` is enough).
            model: the model's id, where the server has several.
            api_key: the key, ``"env:NAME"``, or a function that returns it. A server
                without a key needs none.
            concurrency: the most requests at once for runs that name no number.
            headers: extra headers; values of names such as ``x-api-key`` are treated as
                keys.
            price: of the model, where the built-in table of list prices has none.

        Raises:
            ConfigError: no URL at all, or a value that cannot work.
        """
        settled = settle(base_url, model, api_key)
        values = {
            "base_url": settled.base_url,
            "model": settled.model,
            "origins": MappingProxyType(settled.origins),
            "notes": settled.notes,
            "price": price,
            "_key": settled.key,
            "_headers": ExtraHeaders(headers),
            "_concurrency": _checked(concurrency),
        }
        _fill(self, values)

    @classmethod
    def preset(
        cls, name: str, model: str | None = None, api_key: KeySource = None
    ) -> Provider:
        """Return a provider for a well-known endpoint, by its name.

        The key comes from the argument, else from the endpoint's usual variable (such
        as ``OPENAI_API_KEY``), never from ``SYNTHNB_API_KEY``.

        Raises:
            ConfigError: there is no such preset; the error lists them.
        """
        chosen = preset_named(name)
        variable = chosen.key_variable
        key = Key(
            api_key if api_key is not None or variable is None else f"env:{variable}"
        )
        origins = {
            "base_url": f"preset {chosen.name}",
            "model": "argument" if model else "default",
            "api_key": "default" if api_key is None else "argument",
        }
        if api_key is None and variable:
            origins["api_key"] = f"preset {chosen.name} (environment {variable})"
        return cls._make(
            base_url=normalise(chosen.base_url).base_url,
            model=model or None,
            origins=MappingProxyType(origins),
            _key=key,
            _concurrency=chosen.concurrency,
        )

    @classmethod
    def local(cls, model: str | None = None, **options: Any) -> Provider:
        """Return a provider for a model that is started here: no key, no network.

        It is launched by ``check`` or ``connect``, not here. Options go to the runtime.

        Raises:
            ConfigError: no runtime is loaded, or it refuses an option.
        """
        make_launcher(model, options)
        origins = {
            "base_url": "launched here",
            "model": "argument" if model else "default",
            "api_key": "default",
        }
        return cls._make(
            model=model, origins=MappingProxyType(origins), _local=(model, options)
        )

    @classmethod
    def from_config(
        cls,
        config: str | os.PathLike[str] | SdkConfig,
        *,
        model: str | None = None,
        api_key: KeySource = None,
    ) -> Provider:
        """Return the provider that synthetic-data-kit's ``config.yaml`` names.

        Both of its kinds (``vllm``, ``api-endpoint``) are one here. The key comes from the
        argument, else from ``API_ENDPOINT_KEY`` (for an ``api-endpoint``), else from the
        file.

        Args:
            config: the YAML file, whole or a part of it, or what
                ``synthnb.config_from_sdk`` has read.
            model: instead of the file's.
            api_key: instead of the file's.

        Raises:
            ConfigError: it cannot be read, a value has a wrong type, or no URL is named.
        """
        if not isinstance(config, SdkConfig):
            config = SdkConfig(config)
        url, section = normalise(config.base_url), config.section
        where = f"{config.path.name} {section}"
        named = model or config.of("model")
        key_origin = config.origins[f"{section}.api_key"]
        origins = {
            "base_url": f"{where}.api_base",
            "model": "argument" if model else f"{where}.model" if named else "default",
            "api_key": "argument" if api_key is not None else key_origin,
        }
        return cls._make(
            base_url=url.base_url,
            model=named or None,
            origins=MappingProxyType(origins),
            notes=(*url.notes, *config.notes),
            _key=config.key if api_key is None else Key(api_key),
            _concurrency=_checked(config["generation.batch_size"]),
        )

    @classmethod
    def from_openai(cls, client: AsyncOpenAI, model: str) -> Provider:
        """Return a provider that calls through your own ``openai.AsyncOpenAI``.

        Its key, headers and proxies stay in it; its retries are not used.
        """
        origins = dict.fromkeys(("base_url", "api_key"), "openai client")
        return cls._make(
            base_url=str(client.base_url).rstrip("/"),
            model=model,
            origins=MappingProxyType(origins | {"model": "argument"}),
            _sdk=client,
        )

    @property
    def key_state(self) -> str:
        """The key's status and origin in words; no character of the key."""
        return "in the openai client" if self._sdk is not None else str(self._key)

    @property
    def concurrency(self) -> int:
        """The most requests at once for runs that name no number."""
        if self._concurrency is not None:
            return self._concurrency
        known = preset_at(self.base_url) if self.base_url else None
        return known.concurrency if known else _DEFAULT_CONCURRENCY

    @property
    def known_price(self) -> Price | None:
        """The price that was given, else the list price of a hosted model."""
        return self.price or price_of(self.model, self.base_url)

    @property
    def is_local(self) -> bool:
        """Whether the model is launched by this process."""
        return self._local is not None

    def preflight(self) -> None:
        """Fail at once where nothing listens on this machine; otherwise do nothing.

        Takes at most 40 ms and looks at loopback addresses only.

        Raises:
            ConnectError: the port refuses connections.
        """
        if self.base_url is not None and nothing_listens(self.base_url):
            raise refused(self.base_url)

    async def connect(self, limits: Limits | None = None) -> ChatClient:
        """Launch the server if it is a local one, settle the model, open a client.

        Raises:
            ConfigError: the model must be named, or the key cannot be had.
            ProviderError: the server does not answer, or refuses the key.
            ModelServerError: the local server does not start.
        """
        from synthnb.providers.connecting import connect

        return await connect(self, limits)

    async def check(
        self, progress: Callable[[Step], None] | None = None
    ) -> CheckReport:
        """Try the endpoint step by step and report; never raises for what it finds.

        Args:
            progress: called with each step as soon as it is known. A step may come
                twice: on a server whose list is public, only the first answer tells
                that the key is refused.
        """
        from synthnb.providers.probe import check

        return await check(self, progress)

    def forget(self) -> None:
        """Forget what was learned about this server and model, also on disk.

        Without a model, what was learned about all models of the server. Clients that
        are open keep what they know. A server whose kind or version changed is forgotten
        by itself, and everything after 30 days (one day on this machine).
        """
        from synthnb.providers.dialect import forget_dialect

        if self.base_url is not None:
            forget_dialect(self.base_url, self.model)

    def _launcher(self) -> Launcher | None:
        return None if self._local is None else make_launcher(*self._local)

    def describe(self) -> str:
        """Return one line for people: the model, and where it is or will be started."""
        launcher = self._launcher()
        return repr(self) if launcher is None else launcher.describe()

    @classmethod
    def _make(cls, **values: Any) -> Provider:
        provider = cls.__new__(cls)
        _fill(provider, values)
        return provider

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"a Provider is immutable: make a new one to change {name}"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Provider is immutable: {name} cannot be deleted")

    def _identity(self) -> tuple[Any, ...]:
        local = None if self._local is None else repr(self._local)
        headers = tuple(sorted(self._headers.plain.items()))
        return self.base_url, self.model, local, self._concurrency, headers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Provider):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in (*_FIELDS, "_local")}
        return state | {"origins": dict(self.origins)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _fill(self, state | {"origins": MappingProxyType(state["origins"])})

    def __repr__(self) -> str:
        where = self.base_url
        if where is None:
            where = "local" if self._local is None else "local model"
        return f"<Provider {where}, model {self.model or 'not named'}, key {self.key_state}>"


def _fill(provider: Provider, values: dict[str, Any]) -> None:
    """Set each attribute once, the ones not named to nothing."""
    empty: dict[str, Any] = dict.fromkeys(Provider.__slots__)
    empty |= {"notes": (), "_key": Key(), "_headers": ExtraHeaders(None)}
    for name, value in (empty | values).items():
        object.__setattr__(provider, name, value)


def _checked(concurrency: int | None) -> int | None:
    if concurrency is not None and concurrency < 1:
        raise ConfigError("concurrency must be at least 1")
    return concurrency
