import re
from pathlib import Path

import httpx
import pytest

page = (Path(__file__).parent / "../README.md").read_text()
snippets = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
created = {
    **{"code": "ABCD", "expires_in": 60, "expires_at": "2026-01-02T03:04:05Z"},
    **{"direct_link": "https://ads.example/ABCD", "miniapp_url": "https://ads.example/app/7?code=ABCD"},
}


@pytest.mark.parametrize("snippet", snippets, ids=lambda snippet: snippet.strip().splitlines()[0])
def test_each_snippet_of_the_page_runs(snippet, tmp_path, monkeypatch, capsys):
    for module in ("aiogram", "fastapi"):
        if module in snippet:
            pytest.importorskip(module, reason=f"{module} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AD_API_TOKEN", "ad_one")
    answer = httpx.MockTransport(lambda _request: httpx.Response(200, json=created))
    client = httpx.Client(transport=answer)
    monkeypatch.setattr("intermission_ads.client.httpx.Client", lambda **_named: client)
    names: dict = {}
    exec(compile(snippet, "README.md", "exec"), names)
    if "create_code" in snippet:
        assert capsys.readouterr().out.split() == [created["miniapp_url"], created["direct_link"]]
    if "receive" in names:
        assert names["receive"](b"{}", {}) == 401
    if "database" in names:
        names["database"].close()
