"""What lies between the client and the service: event loops, and the proxies of the environment."""

import asyncio
import gc
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from intermission_ads import Ads, AdsError, AsyncAds

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


@pytest.fixture
def server():
    """Keeps its connections open, and answers 502 where it is asked as a proxy."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            is_proxied = self.path.startswith("http://")
            body = b"<h1>Bad gateway</h1>" if is_proxied else json.dumps({"available": True}).encode()
            self.send_response(502 if is_proxied else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield listening.server_address[1]
        listening.shutdown()
        thread.join()


# A loop that ends with open connections leaves them behind, whatever the client does.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_one_client_serves_event_loops_one_after_the_other_and_at_the_same_time(server):
    ads = AsyncAds(f"http://127.0.0.1:{server}", "ad_one", 7)
    for _run in range(3):
        assert asyncio.run(ads.availability(42)).is_available

    answers: list[bool] = []

    async def ask_often():
        for _call in range(20):
            answers.append((await ads.availability(42)).is_available)
            await asyncio.sleep(0)

    threads = [threading.Thread(target=lambda: asyncio.run(ask_often())) for _thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 80
    del ads, threads
    gc.collect()


def test_a_client_that_is_closed_says_so_and_another_loop_may_go_on_with_it(server):
    ads = AsyncAds(f"http://127.0.0.1:{server}", "ad_one", 7)

    async def use_and_close():
        async with ads:
            assert (await ads.availability(42)).is_available
        with pytest.raises(RuntimeError, match="closed"):
            await ads.availability(42)

    asyncio.run(use_and_close())
    asyncio.run(use_and_close())


@pytest.mark.parametrize("client", [Ads, AsyncAds])
@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"ALL_PROXY": "socks://127.0.0.1:7890"}, "ALL_PROXY of the environment cannot be used"),
        ({"all_proxy": "socks://127.0.0.1:7890"}, "all_proxy of the environment cannot be used"),
        ({"HTTPS_PROXY": "http://ann:hush@127.0.0.1:port"}, "HTTPS_PROXY of the environment cannot be used"),
        ({"HTTPS_PROXY": "http://ann:hu#sh@proxy:80", "NO_PROXY": "localhost"}, "HTTPS_PROXY or NO_PROXY of the environment"),
        ({"NO_PROXY": "localhost,[::1]"}, "NO_PROXY of the environment cannot be used"),
    ],
)
def test_a_proxy_of_the_environment_that_cannot_be_used_is_named(environment, client, environ, said):
    for name, value in environ.items():
        environment.setenv(name, value)
    try:
        httpx.Client().close()
    except Exception:
        pass
    else:
        pytest.skip("this version of httpx reads it")
    with pytest.raises(ValueError) as raised:
        client("https://rewards.example.com", "ad_one", 7)
    message = str(raised.value)
    assert said in message and "write http://host:port" in message and "or remove it" in message
    assert "hu" not in message
    # A transport of the caller's own decides how to connect.
    client("https://rewards.example.com", "ad_one", 7, transport=httpx.MockTransport(lambda _request: httpx.Response(200)))


@pytest.mark.parametrize("client", [Ads, AsyncAds])
def test_certificates_of_the_environment_that_cannot_be_read_are_named(environment, client, tmp_path):
    environment.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    try:
        httpx.Client().close()
    except OSError:
        pass
    else:
        pytest.skip("this version of httpx passes over them")
    with pytest.raises(ValueError, match="SSL_CERT_FILE of the environment names certificates that cannot be read"):
        client("https://rewards.example.com", "ad_one", 7)


def unreachable(url: str) -> str:
    with Ads(url, "ad_one", 7, retries=0) as ads, pytest.raises(AdsError) as raised:
        ads.availability(42)
    return raised.value.message


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_that_does_not_answer_is_named_instead_of_the_service(environment, name):
    if name == "HTTP_PROXY":
        environment.delenv("REQUEST_METHOD", raising=False)
    environment.setenv(name, "http://ann:hush@127.0.0.1:9")
    message = unreachable("http://rewards.example.com")
    assert message.startswith("the ad service at http://rewards.example.com did not answer through the environment's proxy 127.0.0.1:9: ")
    assert "refused" in message and message.endswith("; check that proxy, or exclude the service with NO_PROXY")
    assert "hush" not in message


def test_a_proxy_in_front_of_a_local_service_is_named(environment, server):
    environment.setenv("HTTP_PROXY", f"http://127.0.0.1:{server}")
    message = unreachable("http://127.0.0.1:8701")
    assert message.startswith(f"502 from a proxy or another server at 127.0.0.1:8701 through the environment's proxy 127.0.0.1:{server}, ")
    environment.setenv("NO_PROXY", "127.0.0.1")
    assert "proxy" not in unreachable("http://127.0.0.1:9")
