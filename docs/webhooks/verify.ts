import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** `body`: the bytes as they came. `tokens`: yours, the new one and the old one while you rotate. `now`: unix seconds. */
export function isGenuine(headers: IncomingHttpHeaders, body: Buffer, tokens: string[], now: number): boolean {
  const header = (name: string) => String(headers[name] ?? "");
  const [xSignature, id, timestamp] = [header("x-signature"), header("webhook-id"), header("webhook-timestamp")];
  if (!/^sha256=[0-9a-f]{64}$/.test(xSignature) || id.includes(".")) return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > 300) return false;

  // With an empty token, from a variable that is not set, anybody could sign.
  const keys = tokens.filter(Boolean);
  const mac = (key: string) => createHmac("sha256", key);
  const isEqual = (one: string, other: string) =>
    Buffer.byteLength(one) === Buffer.byteLength(other) && timingSafeEqual(Buffer.from(one), Buffer.from(other));
  const received = header("webhook-signature").split(" ");
  const hasX = keys.some((key) => isEqual(`sha256=${mac(key).update(body).digest("hex")}`, xSignature));
  const hasStandard = keys
    .map((key) => `v1,${mac(key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`)
    .some((expected) => received.some((one) => isEqual(expected, one)));
  return hasX && hasStandard;
}

// --- command line: takes webhooks as lines of JSON { headers, body (base64), tokens, now }, answers each with a line
import { readFileSync } from "node:fs";

for (const line of readFileSync(0, "utf8").trimEnd().split("\n")) {
  const { headers, body, tokens, now } = JSON.parse(line);
  console.log(isGenuine(headers, Buffer.from(body, "base64"), tokens, now) ? "genuine" : "refused");
}
