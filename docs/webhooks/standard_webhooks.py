import base64

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def secret_of(token: str) -> str:
    """Your token as the libraries in other languages take it, too: its bytes in base64."""
    return "whsec_" + base64.b64encode(token.encode()).decode()


def is_genuine(headers: dict[str, str], body: bytes, tokens: list[str]) -> bool:
    """`body`: the bytes as they came. `tokens`: yours, the new one and the old one while you rotate."""
    # With an empty token, from a variable that is not set, anybody could sign.
    for token in filter(None, tokens):
        try:
            Webhook(secret_of(token)).verify(body.decode(), headers)
            return True
        except WebhookVerificationError:
            pass
    return False


# --- command line: takes webhooks as lines of JSON { headers, body (base64), tokens }, sent now, answers each with a line
if __name__ == "__main__":
    import json
    import sys

    for line in sys.stdin:
        webhook = json.loads(line)
        body = base64.b64decode(webhook["body"])
        print("genuine" if is_genuine(webhook["headers"], body, webhook["tokens"]) else "refused")
