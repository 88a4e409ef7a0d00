import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sign, signStandardWebhook, verify, verifyStandardWebhook } from "./signature.ts";
import vectors from "./vectors.json" with { type: "json" };

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const token = "ad_test-token";
const body = new TextEncoder().encode('{"event":"rewarded","user_tg_id":"42"}');

test.each(vectors.hmac_sha256_rfc4231)(
  "HMAC-SHA256 is that of RFC 4231, $description",
  ({ key_hex, data_hex, mac_hex }) => {
    expect(createHmac("sha256", bytes(key_hex)).update(bytes(data_hex)).digest("hex")).toBe(mac_hex);
  },
);

test.each(vectors.x_signature)("X-Signature of $description", ({ token: key, body_hex, header }) => {
  expect(sign(bytes(body_hex), key)).toBe(header);
  expect(verify(bytes(body_hex), header, [key])).toBe(true);
});

test.each(vectors.standard_webhooks)(
  "Standard Webhooks headers with $description",
  ({ id, timestamp, tokens, body_hex, signature }) => {
    const headers = signStandardWebhook({ id, timestampSeconds: timestamp, body: bytes(body_hex), tokens });
    expect(headers["webhook-signature"]).toBe(signature);
    const now = new Date(timestamp * 1000);
    for (const one of tokens) {
      const verdict = verifyStandardWebhook({ headers: { ...headers }, body: bytes(body_hex), tokens: [one], now });
      expect(verdict).toEqual({ outcome: "valid" });
    }
  },
);

describe("a header that is not exactly one signature is refused", () => {
  const good = sign(body, token);
  const hex = good.slice(7);
  const hostile: [string, unknown][] = [
    ["missing", undefined],
    ["null", null],
    ["empty", ""],
    ["two values in one", `${good}, ${good}`],
    ["two values", [good, good]],
    ["one value in a list", [good]],
    ["another prefix", `sha1=${hex}`],
    ["upper-case prefix", `SHA256=${hex}`],
    ["no prefix", hex],
    ["upper-case hex", `sha256=${hex.toUpperCase()}`],
    ["63 digits", good.slice(0, -1)],
    ["65 digits", `${good}0`],
    ["junk after the hex", `${good}x`],
    ["a blank before", ` ${good}`],
    ["a blank after", `${good} `],
    ["a newline after", `${good}\n`],
    ["a NUL after", `${good}\0`],
    ["letters beyond hex", `sha256=${"g".repeat(64)}`],
    ["full-width digits", `sha256=${"１".repeat(64)}`],
    ["a megabyte", `sha256=${"a".repeat(1_000_000)}`],
    ["a number", 7],
    ["an object", { toString: () => good }],
  ];
  test.each(hostile)("%s", (_what, header) => {
    expect(verify(body, header, [token])).toBe(false);
  });
  test("the good one is accepted", () => {
    expect(verify(body, good, [token])).toBe(true);
  });
});

test("any one of the tokens suffices, and none means no", () => {
  expect(verify(body, sign(body, "old"), ["new", "old"])).toBe(true);
  expect(verify(body, sign(body, "other"), ["new", "old"])).toBe(false);
  expect(verify(body, sign(body, ""), [])).toBe(false);
});

const anyBytes = fc.uint8Array({ maxLength: 300 });

test("what is signed verifies, and one changed bit of body, header or token does not", () => {
  fc.assert(
    fc.property(anyBytes, fc.string({ unit: "grapheme", minLength: 1 }), fc.nat(), (data, key, where) => {
      const header = sign(data, key);
      expect(verify(data, header, [key])).toBe(true);
      expect(verify(data, header, [`${key}x`])).toBe(false);
      const at = 7 + (where % 64);
      const flipped = header.slice(0, at) + (header[at] === "0" ? "1" : "0") + header.slice(at + 1);
      expect(verify(data, flipped, [key])).toBe(false);
      if (data.length === 0) return;
      const tampered = data.slice();
      tampered[where % data.length] = (tampered[where % data.length] ?? 0) ^ (1 << (where % 8));
      expect(verify(tampered, header, [key])).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test("no header throws, and none but the signature is accepted", () => {
  fc.assert(
    fc.property(anyBytes, fc.anything(), (data, header) => {
      expect(verify(data, header, [token])).toBe(false);
      verifyStandardWebhook({
        headers: { "webhook-id": header, "webhook-timestamp": header, "webhook-signature": header },
        body: data,
        tokens: [token],
        now: new Date(0),
      });
    }),
    { numRuns: 1000 },
  );
});

describe("Standard Webhooks headers", () => {
  const timestampSeconds = 1_767_323_045;
  const headers = { ...signStandardWebhook({ id: "evt_1", timestampSeconds, body, tokens: [token] }) };
  const judge = (changed: Record<string, unknown>, nowSeconds = timestampSeconds) =>
    verifyStandardWebhook({
      headers: { ...headers, ...changed },
      body,
      tokens: [token],
      now: new Date(nowSeconds * 1000),
    }).outcome;

  test("are bound to id, time and body", () => {
    expect(judge({})).toBe("valid");
    expect(judge({ "webhook-id": "evt_2" })).toBe("wrong-signature");
    expect(judge({ "webhook-timestamp": String(timestampSeconds + 1) })).toBe("wrong-signature");
    const other = verifyStandardWebhook({ headers, body: new Uint8Array(), tokens: [token], now: new Date() });
    expect(other.outcome).toBe("wrong-signature");
  });
  test("are refused when one is missing or malformed", () => {
    for (const name of Object.keys(headers)) expect(judge({ [name]: undefined })).toBe("missing-header");
    for (const value of ["", " 1", "1e9", "-1", "0x10", "99999999999999"])
      expect(judge({ "webhook-timestamp": value })).toBe("malformed-header");
    expect(judge({ "webhook-id": "a b" })).toBe("malformed-header");
    expect(judge({ "webhook-signature": ["v1,a"] })).toBe("malformed-header");
  });
  test("are refused beyond five minutes either way", () => {
    expect(judge({}, timestampSeconds + 300)).toBe("valid");
    expect(judge({}, timestampSeconds + 301)).toBe("stale");
    expect(judge({}, timestampSeconds - 300)).toBe("valid");
    expect(judge({}, timestampSeconds - 301)).toBe("future");
  });
  test("may list signatures of other versions, which count for nothing", () => {
    expect(judge({ "webhook-signature": `v2,AAAA v1a,xyz ${headers["webhook-signature"]}` })).toBe("valid");
    expect(judge({ "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") })).toBe("wrong-signature");
  });
});
