"""What a client is made with: each mistake has its own message, which names the argument and its usual variable."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

_QUOTES = "\"'`“”‘’"
_EXAMPLE = "the ad service's address, such as https://rewards.example.com"
_OPERATOR = "the operator creates one: pnpm ads tokens create --bot-id <digits>"
_API_TOKEN = f"the bot's API token of the ad service, which begins with ad_ there; {_OPERATOR}"
_DIGITS = "the digits before the colon of TELEGRAM_BOT_TOKEN"


_MAX_SECRET_BYTES = 64 * 1024


def read_secret(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """The secret of the environment variable `name`, or of the file that `name_FILE` names, as Docker and Kubernetes mount it.

    Without blanks and line breaks around the file's text; "" without both. Raises `ValueError`, which names the variable and the file and
    contains no secret, if the file cannot be read, is empty or is larger than 64 kB, or if both are set.
    """
    variable = f"{name}_FILE"
    secret, path = environ.get(name, ""), environ.get(variable, "")
    if path == "":
        return secret
    if secret != "":
        raise ValueError(f"{variable} and {name} are both set: set one of them, since they may differ")
    try:
        file = Path(path)
        if file.exists() and not file.is_file():
            raise ValueError(f"{variable} must name a file, and {path} is none")
        with file.open("rb") as opened:
            content = opened.read(_MAX_SECRET_BYTES + 1)
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "unknown error")
        advice = "mount the secret, or let this user read it"
        raise ValueError(f"{variable} names {path}, which cannot be read ({code}): {advice}") from error
    if len(content) > _MAX_SECRET_BYTES:
        raise ValueError(f"{variable} names {path}, which has more than {_MAX_SECRET_BYTES // 1024} kB")
    # As the shell of Windows writes its output into a file.
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{variable} names {path}, which is in UTF-16: save it as UTF-8")
    text = _bare(content.decode("utf-8", "replace"))
    if text == "":
        raise ValueError(f"{variable} names {path}, which is empty")
    return text


def server_address(value: str | None) -> str:
    """The base of the ad service's address without `/client/v1`, behind which it is often copied. Raises `ValueError`."""
    text, where = _text_of(value), "url (AD_SERVICE_URL)"
    if text == "":
        raise ValueError(f"{where} is missing: set it to {_EXAMPLE}")
    if _is_quoted(text):
        raise ValueError(f"{where} is in quotes: remove the quotes")
    if "://" not in text and not re.match("https?:", text, re.IGNORECASE):
        is_local = re.match(r"localhost|127\.|\[|0\.0\.0\.0", text)
        raise ValueError(f"{where} has no scheme: write {'http' if is_local else 'https'}://{text} instead of {text}")
    if "://" in text and not re.match("https?:", text, re.IGNORECASE):
        scheme = text.split(":", 1)[0]
        raise ValueError(f"{where} must begin with https:// or http://, and begins with {scheme}: write {_EXAMPLE}")
    read = _split(text)
    if read is None:
        raise ValueError(f"{where} is not an address: write {_EXAMPLE}")
    if read.username is not None or read.password is not None:
        raise ValueError(
            f"{where} contains a user name or a password, which fetch refuses: remove everything before the @"
        )
    if "?" in text or "#" in text:
        raise ValueError(f"{where} contains ? or #: write only {_EXAMPLE}")
    path = f"{read.path}/".split("/client/v1/", 1)[0]
    return f"{read.scheme}://{read.netloc}{path}".rstrip("/")


def _split(text: str) -> SplitResult | None:
    try:
        read = urlsplit(text)
        # Read here, because it raises for a port that is not a number.
        is_address = read.port != 0 and bool(read.hostname) and not re.search(r"\s", text)
    except ValueError:
        return None
    return read if is_address else None


def api_tokens(value: str | Iterable[str] | None, name: str = "token") -> list[str]:
    """The tokens, trimmed, each once. Raises `ValueError`, which never contains a token, where one cannot be right.

    `name`: what the caller calls the argument.
    """
    where = f"{name} (AD_API_TOKEN)"
    entries = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) else [value]
    for entry in entries:
        if not isinstance(entry, (str, type(None))):
            advice = "decode it" if isinstance(entry, bytes) else "pass it as it was created"
            raise ValueError(f"{where} is not text but {type(entry).__name__}: {advice}")
    tokens = list(dict.fromkeys(token for token in map(_text_of, entries) if token != ""))
    if not tokens:
        raise ValueError(f"{where} is missing: set it to the bot's API token; {_OPERATOR}")
    for token in tokens:
        if _is_quoted(token):
            raise ValueError(f"{where} is in quotes: remove the quotes")
        if re.search(r"…|\.\.\.|^<.*>$", token):
            raise ValueError(f"{where} is the placeholder of an example: replace it with {_API_TOKEN}")
        if re.match(r"bearer\b", token, re.IGNORECASE):
            raise ValueError(f'{where} begins with "Bearer": remove the word, the client adds it')
        if re.match("[0-9]+:", token):
            raise ValueError(f"{where} is a token of @BotFather: it needs {_API_TOKEN}")
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise ValueError(
                f"{where} contains a space, a line break or a character outside ASCII: copy it anew"
            )
    return tokens


def bot_id_of(value: str | int | None) -> str:
    """The bot's Telegram id as text. Raises `ValueError`, which never contains a token."""
    text, where = _text_of(value), "bot_id (BOT_ID)"
    if text == "":
        raise ValueError(f"{where} is missing: set it to the bot's Telegram id, {_DIGITS}")
    if re.match("[0-9]+:", text):
        raise ValueError(f"{where} contains a whole token of @BotFather: pass only {_DIGITS}")
    if text.startswith("@"):
        raise ValueError(f"{where} is a username: pass the bot's Telegram id, {_DIGITS}")
    if not re.fullmatch("[1-9][0-9]{0,19}", text):
        raise ValueError(f"{where} must be the bot's Telegram id, {_DIGITS}; it is \"{text}\"")
    return text


def seconds_of(timeout: float | None) -> float | None:
    """The limit of an attempt. Raises `ValueError`."""
    if timeout is not None:
        require_seconds(timeout=timeout)
    return timeout


_MAX_SECONDS = 100 * 365 * 24 * 3600


def require_seconds(**lengths: object) -> None:
    """Raises `ValueError`, which names the argument, for a length of time that is none, such as the text of a variable."""
    for name, length in lengths.items():
        is_number = isinstance(length, (int, float)) and not isinstance(length, bool)
        if not (is_number and 0 < length <= _MAX_SECONDS):
            raise ValueError(f"{name} must be a number of seconds above 0; it is {length!r}")


def retries_of(retries: int) -> int:
    if type(retries) is int and retries >= 0:
        return retries
    raise ValueError(f"retries must be a whole number from 0 on; it is {retries!r}")


def _is_quoted(text: str) -> bool:
    return text[0] in _QUOTES or text[-1] in _QUOTES


def _text_of(value: str | int | None) -> str:
    """`None` is what `os.environ.get` returns for an unset variable; formatted into text it is the word."""
    text = "" if value is None else _bare(str(value))
    return "" if text == "None" else text


def _bare(text: str) -> str:
    """Without what nobody sees around it: blanks, line breaks, and the byte order mark of editors on Windows."""
    return text.strip("\ufeff \t\r\n\v\f").strip()
