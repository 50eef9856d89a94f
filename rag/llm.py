"""Writers behind a service that speaks the OpenAI chat protocol, and its failures in plain words.

Importing this module imports LangChain and the OpenAI client, which takes a second or two: do it where a
model is opened, not where an answer may turn out to need none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import urlsplit

import openai
from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from rag.errors import OperatorError, ProviderError
from rag.reasoning import AnswerFilter
from rag.stopping import check_wanted
from rag.types import Piece, Prompt, Usage

OPENAI_URL = "https://api.openai.com/v1"

_LIMITS = ("max_completion_tokens", "max_tokens")
"""Names for the bound on a reply, in the order tried: the present one, that of older servers."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Service:
    """Where a model answers, and how it is asked.

    `base_url` None is OpenAI itself. `timeout` is the longest silence in seconds, `retries` how often the
    client asks again after a lost connection, a timeout or a status 408, 409, 429 or 5xx, waiting as long
    as `Retry-After` says (at most two minutes). `temperature` None leaves it to the service. `extra` are
    further fields of the request. `local` marks the model in this process, which takes GBNF grammars.
    The key never appears in `repr`.
    """

    base_url: str | None
    api_key: str | None = field(repr=False)
    model: str
    timeout: float = 60.0
    retries: int = 4
    temperature: float | None = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)
    local: bool = False

    @property
    def place(self) -> str:
        """The service as messages name it: host and port, never the credentials an address may carry."""
        if self.local:
            return "the local model"
        return urlsplit(self.base_url or OPENAI_URL).netloc.rpartition("@")[2]


class ChatWriter:
    """A `Writer` over LangChain's `ChatOpenAI`.

    A parameter that the service rejects by name is left out from then on, so a newer or an older service
    costs one more request once. Reasoning is not part of the answer: `reasoning_content` is ignored and
    `<think>` blocks are removed (see `AnswerFilter`). May be used by several threads at a time.
    """

    def __init__(self, service: Service, count_tokens: Callable[[str], int], *, name: str | None = None) -> None:
        """Prepare the client without contacting the service.

        `count_tokens` estimates the usage when the service does not report it. `name` is what the user is
        told (default: the model's name). Raises `OperatorError` for an unusable key or address.
        """
        self.service = service
        self._name = name or service.model
        self._count_tokens = count_tokens
        self._refused: set[str] = set()
        self._reasons_first = False
        self._model = _chat_model(service)

    @property
    def name(self) -> str:
        """What the user is told wrote the answer."""
        return self._name

    def write(self, prompt: Prompt) -> Iterator[Piece]:
        """Stream the reply to a prompt; closing the iterator closes the connection, which stops the model.

        The last piece carries the usage and `finished`: False when the reply stopped at its token limit, so
        that its last sentence is not whole. Raises `ProviderError` when the service fails, when the reply
        is empty, and when the stream ends without a `finish_reason`.
        """
        visible = AnswerFilter(reasoning=self._reasons_first)
        usage: Usage | None = None
        finish: str | None = None
        text = ""
        with closing(self._messages(prompt)) as messages:
            for message in messages:
                usage = _usage(message) or usage
                finish = message.response_metadata.get("finish_reason") or finish
                piece = visible.feed(str(message.text))
                if visible.orphaned:
                    self._reasons_first = True
                    raise ProviderError(
                        f"{self.service.place} wrote its reasoning into the answer; ask again", retry=True
                    )
                text += piece
                if piece:
                    yield Piece(piece)
        rest = visible.end()
        text += rest
        if finish is None:
            raise ProviderError(f"the answer of {self.service.place} was cut off; ask again", retry=True)
        if not text.strip():
            raise _why_empty(self.service, finish)
        finished = finish not in ("length", "content_filter")
        yield Piece(rest, usage or self._estimate(prompt, text), finished)

    def first_tokens(self, prompt: Prompt) -> dict[str, float]:
        """Return the 20 likeliest first tokens of a reply with their probabilities, grammar apart.

        Raises `ProviderError` as `write` does, and when the service tells no probabilities.
        """
        single = replace(prompt, max_tokens=1, grammar=None)
        with closing(self._messages(single, logprobs=True, top_logprobs=20)) as messages:
            for message in messages:
                logprobs = message.response_metadata.get("logprobs") or {}
                for token in logprobs.get("content") or ():
                    return {other["token"]: math.exp(other["logprob"]) for other in token["top_logprobs"]}
        raise ProviderError(f"{self.service.place} tells no probabilities; use another model", retry=False)

    def _estimate(self, prompt: Prompt, text: str) -> Usage:
        asked = sum(self._count_tokens(str(message.text)) for message in to_messages(prompt))
        return Usage(asked, self._count_tokens(text), 1, estimated=True)

    def _messages(self, prompt: Prompt, **further: Any) -> Generator[AIMessage]:
        """Stream the service's messages, asking again without the parameters that it rejects."""
        while True:
            sent = self._sent()
            begun = False
            try:
                # A generator in truth: closing it closes the connection.
                request = {**self._request(prompt), **further}
                stream = cast("Generator[AIMessage]", self._model.stream(to_messages(prompt), **request))
                with closing(stream):
                    for message in stream:
                        begun = True
                        check_wanted()  # also while the local model only tells how far it has read
                        yield message
                return
            except openai.OpenAIError as error:
                if begun or not self._adapt(error, sent):
                    raise explain(error, self.service, begun=begun) from None
            except (ValueError, TypeError, KeyError, AttributeError, IndexError):
                # What json, pydantic and LangChain raise for a reply of the wrong form; nothing else is
                # done within this try.
                raise ProviderError(
                    f"{self.service.place} does not answer in the OpenAI format; "
                    "check OPENAI_BASE_URL, which usually ends in /v1",
                    retry=False,
                ) from None

    def _limit(self) -> str | None:
        return next((name for name in _LIMITS if name not in self._refused), None)

    def _sent(self) -> frozenset[str]:
        """Names of the parameters that a call may do without and carries now."""
        names = {*self.service.extra, "stream", "stream_options", self._limit()}
        if self._model.temperature is not None:
            names.add("temperature")
        return frozenset(name for name in names if name is not None and name not in self._refused)

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """Return what is particular to one call; the rest is set on the model."""
        extra = {name: value for name, value in self.service.extra.items() if name not in self._refused}
        if self.service.local and prompt.grammar is not None:
            extra["grammar"] = prompt.grammar
        limit = self._limit()
        if limit == "max_tokens":
            # As a plain argument LangChain would rename it.
            return {"extra_body": {**extra, limit: prompt.max_tokens}}
        bound = {} if limit is None else {limit: prompt.max_tokens}
        return {"extra_body": extra, **bound}

    def _adapt(self, error: openai.OpenAIError, sent: Collection[str]) -> bool:
        """Leave out the parameter that an error names from now on; False when it names none of `sent`."""
        named = _named_parameter(error, sent)
        if named is None:
            return False
        self._refused.add(named)
        if named == "temperature":
            self._model.temperature = None
        elif named == "stream_options":
            self._model.stream_usage = False
        elif named == "stream":
            self._model.disable_streaming = True
        return True


def to_messages(prompt: Prompt) -> list[BaseMessage]:
    """Return a prompt as chat messages: the system text, the worked examples in turn, the question."""
    examples = [message for asked, told in prompt.examples for message in (HumanMessage(asked), AIMessage(told))]
    return [SystemMessage(prompt.system), *examples, HumanMessage(prompt.user)]


def explain(error: openai.OpenAIError, service: Service, *, begun: bool = False) -> ProviderError:
    """Return an error of the client as one sentence with the remedy; it never carries the key.

    `begun` says that a part of the answer had arrived.
    """
    place = service.place
    if isinstance(error, openai.APITimeoutError):
        silence = f"{place} was silent for {service.timeout:g} s"
        reason, retry = f"{silence}; ask again or raise PLENARY_TIMEOUT", True
    elif isinstance(error, openai.APIConnectionError) and begun:
        reason, retry = f"the answer of {place} was cut off by a lost connection; ask again", True
    elif isinstance(error, openai.APIConnectionError) and service.local:
        reason, retry = f"{place} has stopped; ask again, which starts it anew", True
    elif isinstance(error, openai.APIConnectionError):
        cause = _plain(_root_cause(error), service)
        reason, retry = f"{place} cannot be reached ({cause}); check OPENAI_BASE_URL and the network", True
    elif isinstance(error, openai.APIStatusError):
        reason, retry = _explain_status(error, service)
    else:
        reason, retry = f"{place} reported a fault ({_detail(error, service)}); ask again", True
    return ProviderError(reason, retry=retry)


def _root_cause(error: BaseException) -> str:
    """Return the words of the first error of a chain: the socket's, below those of three libraries."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


def _explain_status(error: openai.APIStatusError, service: Service) -> tuple[str, bool]:
    place, status, model = service.place, f"status {error.status_code}", service.model
    match error.status_code:
        case 401 if service.api_key is None:
            return f"{place} wants a key ({status}); set OPENAI_API_KEY", False
        case 401:
            return f"{place} does not accept the key in OPENAI_API_KEY ({status}); set a valid one", False
        case 403:
            return (
                f"{place} does not let the key in OPENAI_API_KEY use the model {model!r} ({status}); "
                "choose another model or key",
                False,
            )
        case 404:
            return (
                f"{place} has no model {model!r} at this address ({status}); "
                "check PLENARY_MODEL, and OPENAI_BASE_URL, which usually ends in /v1",
                False,
            )
        case 402 | 429 if error.status_code == 402 or error.code == "insufficient_quota":
            return f"the account of OPENAI_API_KEY at {place} has no credit left ({status}); top it up", False
        case 429:
            wait = error.response.headers.get("retry-after")
            when = f"in {wait} s" if wait and wait.isdecimal() else "later"
            return f"{place} gets more requests than it allows ({status}); ask again {when}", True
        case code if code >= 500:
            return f"{place} has a fault of its own ({status}); ask again later", True
        case _ if _is_too_long(error):
            return (
                f"the prompt is too long for the model {model!r} ({status}); "
                "lower PLENARY_PAPERS or choose a model with a longer context",
                False,
            )
        case _:
            detail = _detail(error, service)
            return f"{place} refused the request ({status}: {detail}); check PLENARY_MODEL", False


def _is_too_long(error: openai.APIStatusError) -> bool:
    # OpenAI and its imitators, llama.cpp, vLLM; LangChain has no name for all of them.
    wordings = ("context_length_exceeded", "exceed_context_size", "context size", "maximum context length")
    return any(words in str(error) for words in wordings)


def _named_parameter(error: openai.OpenAIError, sent: Collection[str]) -> str | None:
    """Return the parameter among `sent` that a status 400 or 422 is about, or None."""
    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError) or _is_too_long(error):
        return None
    # "stream_options.include_usage" is about "stream_options".
    field_name = re.split(r"[.\[]", error.param or "")[0]
    if field_name in sent:
        return field_name
    # Servers without OpenAI's `param` name it in their text. "stream" is too common a word for that.
    text = f"{error.message} {error.body}"
    places = {
        found.start(): name
        for name in sent
        if name != "stream" and (found := re.search(rf"\b{re.escape(name)}\b", text))
    }
    return places[min(places)] if places else None


def _detail(error: openai.OpenAIError, service: Service) -> str:
    """Return the service's own words about an error, when it sent some in the expected form."""
    body = getattr(error, "body", None)
    message = (body.get("message") or body.get("detail")) if isinstance(body, Mapping) else None
    return _plain(str(message), service) if message else "no reason given"


def _plain(text: str, service: Service) -> str:
    """Return foreign words as one short line that cannot carry the key."""
    if service.api_key:
        text = text.replace(service.api_key, "…")
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= 200 else line[:199] + "…"


def _why_empty(service: Service, finish: str) -> ProviderError:
    if finish == "length":
        reason = f"the model {service.model!r} spent its whole token limit without an answer"
        return ProviderError(f"{reason}; choose a model that reasons less", retry=False)
    if finish == "content_filter":
        return ProviderError(f"{service.place} withheld the answer; rephrase the question", retry=False)
    return ProviderError(f"{service.place} gave an empty answer; ask again", retry=True)


def _usage(message: AIMessage) -> Usage | None:
    counts = message.usage_metadata
    if counts is None or not (counts["input_tokens"] or counts["output_tokens"]):
        return None
    return Usage(counts["input_tokens"], counts["output_tokens"], 1)


def _chat_model(service: Service) -> ChatOpenAI:
    """Return LangChain's model for a service; raises `OperatorError` for an unusable key or address.

    Address, key and client are always given, so that no variable of the environment that LangChain reads
    can send the prompts elsewhere. The usual proxy variables count, except on the loopback.
    """
    base_url = service.base_url or OPENAI_URL
    _check_address(base_url)
    key = (service.api_key or "").strip()
    if not key and service.base_url is None:
        raise OperatorError("OPENAI_API_KEY is not set; set it, or OPENAI_BASE_URL for a service without keys")
    if not all("!" <= character <= "~" for character in key):
        raise OperatorError("OPENAI_API_KEY has a space or a character that no key has; copy it again")
    model = init_chat_model(
        service.model,
        model_provider="openai",
        base_url=base_url,
        # The client insists on a key; a service without keys ignores it.
        api_key=key or "none",
        timeout=service.timeout,
        max_retries=service.retries,
        temperature=service.temperature,
        stream_usage=True,
        use_responses_api=False,
        cache=False,
        # LangChain's own client would tune sockets and overlook proxies for it.
        http_client=openai.DefaultHttpxClient(trust_env=urlsplit(base_url).hostname not in _LOOPBACK),
        http_socket_options=(),
        openai_proxy=None,
    )
    return cast(ChatOpenAI, model)


def _check_address(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise OperatorError("OPENAI_BASE_URL is not an address like http://localhost:8000/v1; correct it")
