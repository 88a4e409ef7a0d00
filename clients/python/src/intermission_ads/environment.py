"""What httpx takes from the environment: proxies and certificates. Its own errors do not name the variable."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

T = TypeVar("T")

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_CERTIFICATES = ("ssl_cert_file", "ssl_cert_dir")


def connect(make: Callable[[], T]) -> T:
    """Makes an HTTP client. Raises `ValueError`, which names the variables and contains no value, where theirs cannot be used."""
    try:
        return make()
    except OSError as error:
        _refuse(_CERTIFICATES, "names certificates that cannot be read: correct the path, or remove it", error)
    except ImportError as error:
        if "socks" not in str(error).lower():
            raise
        _refuse(_PROXIES, "is a SOCKS proxy, which needs: pip install 'httpx[socks]'", error)
    except (ValueError, httpx.InvalidURL) as error:
        advice = "write http://host:port, with %23 for a # in a password (NO_PROXY: names and [IPv6] without a port), or remove it"
        _refuse(_PROXIES, f"cannot be used: {advice}", error)


def _refuse(names: tuple[str, ...], fault: str, error: Exception) -> NoReturn:
    found = sorted(name for name, value in os.environ.items() if name.lower() in names and value != "")
    if not found:
        raise error
    # Without the cause, whose text may contain a password.
    raise ValueError(f"{' or '.join(found)} of the environment {fault}") from None


def proxy_of(address: str) -> str | None:
    """Host and port of the proxy through which httpx calls this address by default; None without one."""
    parts = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}").netloc.rpartition("@")[2] or None
