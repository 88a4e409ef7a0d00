import { createHmac, timingSafeEqual } from "node:crypto";

type Headers = Record<string, string | undefined>;

/** `body`: the bytes as they came. `tokens`: yours, the new one and the old one while you rotate. `now`: unix seconds. */
export function isGenuine(headers: Headers, body: Buffer, tokens: string[], now: number): boolean {
  const xSignature = headers["x-signature"] ?? "";
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!/^sha256=[0-9a-f]{64}$/.test(xSignature) || id.includes(".")) return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > 300) return false;

  const mac = (token: string) => createHmac("sha256", token);
  const isEqual = (one: string, other: string) =>
    Buffer.byteLength(one) === Buffer.byteLength(other) && timingSafeEqual(Buffer.from(one), Buffer.from(other));
  const given = (headers["webhook-signature"] ?? "").split(" ");
  const hasX = tokens.some((token) => isEqual(`sha256=${mac(token).update(body).digest("hex")}`, xSignature));
  const hasStandard = tokens
    .map((token) => `v1,${mac(token).update(`${id}.${timestamp}.`).update(body).digest("base64")}`)
    .some((expected) => given.some((one) => isEqual(expected, one)));
  return hasX && hasStandard;
}

// --- command line: HEADERS (JSON), TOKENS and NOW in the environment, the body on standard input
const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { HEADERS = "{}", TOKENS = "", NOW } = process.env;
const isOurs = isGenuine(JSON.parse(HEADERS), Buffer.concat(chunks), TOKENS.split(","), Number(NOW));
console.log(isOurs ? "genuine" : "refused");
