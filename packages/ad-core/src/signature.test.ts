import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sign, signStandardWebhook, verify, verifyStandardWebhook } from "./signature.ts";
import vectors from "./vectors.json" with { type: "json" };

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const token = "ad_test-token";
const body = new TextEncoder().encode('{"event":"rewarded","user_tg_id":"42"}');

test.each(vectors.hmac_sha256_rfc4231)(
  "the platform's HMAC-SHA256 matches RFC 4231, $description",
  ({ key_hex, data_hex, mac_hex }) => {
    expect(createHmac("sha256", bytes(key_hex)).update(bytes(data_hex)).digest("hex")).toBe(mac_hex);
  },
);

const keysThatAreText = vectors.hmac_sha256_rfc4231.filter(({ key_hex }) =>
  bytes(key_hex).every((byte) => byte < 0x80),
);
test.each(keysThatAreText)(
  "a signature matches HMAC-SHA256 of RFC 4231, $description",
  ({ key_hex, data_hex, mac_hex }) => {
    const key = Buffer.from(key_hex, "hex").toString("utf8");
    expect(sign(bytes(data_hex), key)).toBe(`sha256=${mac_hex}`);
    expect(verify(bytes(data_hex), `sha256=${mac_hex}`, [key])).toBe(true);
  },
);

test.each(vectors.x_signature)("X-Signature matches the vector: $description", ({ token: key, body_hex, header }) => {
  expect(sign(bytes(body_hex), key)).toBe(header);
  expect(verify(bytes(body_hex), header, [key])).toBe(true);
});

test.each(vectors.standard_webhooks)(
  "Standard Webhooks headers match the vector: $description",
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
  test("the exact signature is accepted", () => {
    expect(verify(body, good, [token])).toBe(true);
  });
});

test("a signature by any of the tokens verifies, and without tokens none does", () => {
  expect(verify(body, sign(body, "old"), ["new", "old"])).toBe(true);
  expect(verify(body, sign(body, "other"), ["new", "old"])).toBe(false);
  expect(verify(body, sign(body, "old"), [])).toBe(false);
});

test("an empty token neither signs nor verifies, because anyone could sign with it", () => {
  const mac = createHmac("sha256", "").update(body).digest();
  expect(() => sign(body, "")).toThrow("empty token");
  expect(verify(body, `sha256=${mac.toString("hex")}`, ["", token])).toBe(false);
  const standardMac = createHmac("sha256", "").update("evt_1.7.").update(body).digest("base64");
  const headers = { "webhook-id": "evt_1", "webhook-timestamp": "7", "webhook-signature": `v1,${standardMac}` };
  const verdict = verifyStandardWebhook({ headers, body, tokens: ["", token], now: new Date(7000) });
  expect(verdict).toEqual({ outcome: "wrong-signature" });
});

const anyBytes = fc.uint8Array({ maxLength: 300 });

test("a signed body verifies, and does not after a change of one bit of body or header, or of the token", () => {
  fc.assert(
    fc.property(anyBytes, fc.string({ unit: "grapheme", minLength: 1 }), fc.nat(), (data, key, where) => {
      const header = sign(data, key);
      expect(verify(data, header, [key])).toBe(true);
      expect(verify(data, header, [`${key}x`])).toBe(false);
      expect(verify(data, flipBit(header, where, where % 7), [key])).toBe(false);
      if (data.length === 0) return;
      expect(verify(flipBitOf(data, where, where % 8), header, [key])).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test("no header makes it throw, and only the signature is accepted", () => {
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
    for (const id of ["", "a b", "a\n", "é", "a".repeat(257)])
      expect(judge({ "webhook-id": id })).toBe("malformed-header");
    expect(judge({ "webhook-signature": "v1,a ".repeat(1000) })).toBe("malformed-header");
    expect(judge({ "webhook-signature": ["v1,a"] })).toBe("malformed-header");
  });
  test("are refused beyond five minutes either way", () => {
    expect(judge({}, timestampSeconds + 300)).toBe("valid");
    expect(judge({}, timestampSeconds + 301)).toBe("stale");
    expect(judge({}, timestampSeconds - 300)).toBe("valid");
    expect(judge({}, timestampSeconds - 301)).toBe("future");
    expect(judge({}, Number.NaN)).not.toBe("valid");
  });
  test("do not verify when the boundary between id, time and body is moved", () => {
    const tail = new TextEncoder().encode("5.{}");
    const signed = signStandardWebhook({ id: "evt_1", timestampSeconds: 100, body: tail, tokens: [token] });
    const moved = { ...signed, "webhook-id": "evt_1.100", "webhook-timestamp": "5" };
    const verdict = verifyStandardWebhook({
      headers: moved,
      body: tail.subarray(2),
      tokens: [token],
      now: new Date(5000),
    });
    expect(verdict).toEqual({ outcome: "malformed-header" });
  });
  test("are not made for an id, a time or tokens that no receiver accepts", () => {
    const make = (changed: object) => () =>
      signStandardWebhook({ id: "evt_1", timestampSeconds, body, tokens: [token], ...changed });
    for (const id of ["", "evt.1", "evt 1"]) expect(make({ id })).toThrow("webhook-id");
    for (const time of [1.5, -1, Number.NaN]) expect(make({ timestampSeconds: time })).toThrow("webhook-timestamp");
    for (const tokens of [[], [""], [token, ""]]) expect(make({ tokens })).toThrow("token");
  });
  test("may list signatures of other versions, which are ignored", () => {
    expect(judge({ "webhook-signature": `v2,AAAA v1a,xyz ${headers["webhook-signature"]}` })).toBe("valid");
    expect(judge({ "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") })).toBe("wrong-signature");
  });
});

test("Standard Webhooks headers verify, and do not after a flip of one bit of any header or of the body", () => {
  const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
  fc.assert(
    fc.property(ids, fc.nat(), anyBytes, fc.nat(), fc.nat(6), (id, timestampSeconds, data, where, bit) => {
      const headers = { ...signStandardWebhook({ id, timestampSeconds, body: data, tokens: [token] }) };
      const judge = (changed: Record<string, string>, body: Uint8Array = data) =>
        verifyStandardWebhook({
          headers: { ...headers, ...changed },
          body,
          tokens: [token],
          now: new Date(timestampSeconds * 1000),
          toleranceSeconds: Number.POSITIVE_INFINITY,
        }).outcome;
      expect(judge({})).toBe("valid");
      for (const [name, value] of Object.entries(headers)) {
        expect(judge({ [name]: flipBit(value, where, bit) })).not.toBe("valid");
      }
      if (data.length > 0) expect(judge({}, flipBitOf(data, where, bit))).toBe("wrong-signature");
    }),
    { numRuns: 500 },
  );
});

function flipBitOf(data: Uint8Array, where: number, bit: number): Uint8Array {
  const at = where % data.length;
  return data.map((byte, index) => (index === at ? byte ^ (1 << bit) : byte));
}

function flipBit(ascii: string, where: number, bit: number): string {
  return Buffer.from(flipBitOf(Buffer.from(ascii, "latin1"), where, bit)).toString("latin1");
}
