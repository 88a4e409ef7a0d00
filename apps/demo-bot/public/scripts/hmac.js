const utf8 = new TextEncoder();

/** The value of `X-Signature` for this text: HMAC-SHA256 of its UTF-8 bytes, as the contract says. */
export async function signatureOf(body, token) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", utf8.encode(token), algorithm, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8.encode(body)));
  return `sha256=${[...mac].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The same text with one byte changed: the first digit of an id, or the last character. */
export function withOneByteChanged(body) {
  const at = Math.max(0, body.search(/[0-9]/));
  const other = body[at] === "7" ? "8" : "7";
  return body.slice(0, at) + other + body.slice(at + 1);
}
