import base64
import hashlib
import hmac
import re


def is_genuine(headers: dict[str, str], body: bytes, tokens: list[str], now: int) -> bool:
    """`body`: the bytes as they came. `tokens`: yours, the new one and the old one while you rotate."""
    x_signature = headers.get("x-signature", "")
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"sha256=[0-9a-f]{64}", x_signature) or "." in webhook_id:
        return False
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > 300:
        return False

    # With an empty token, from a variable that is not set, anybody could sign.
    tokens = [token for token in tokens if token]

    def mac(token: str, data: bytes) -> bytes:
        return hmac.new(token.encode(), data, hashlib.sha256).digest()

    signed = f"{webhook_id}.{timestamp}.".encode() + body
    received = [one.encode() for one in headers.get("webhook-signature", "").split(" ")]
    has_x = any(hmac.compare_digest(b"sha256=" + mac(token, body).hex().encode(), x_signature.encode()) for token in tokens)
    expected = [b"v1," + base64.b64encode(mac(token, signed)) for token in tokens]
    has_standard = any(hmac.compare_digest(one, other) for one in received for other in expected)
    return has_x and has_standard


# --- command line: takes webhooks as lines of JSON { headers, body (base64), tokens, now }, answers each with a line
if __name__ == "__main__":
    import json
    import sys

    for line in sys.stdin.buffer:
        webhook = json.loads(line)
        body = base64.b64decode(webhook["body"])
        is_ours = is_genuine(webhook["headers"], body, webhook["tokens"], webhook["now"])
        print("genuine" if is_ours else "refused")
