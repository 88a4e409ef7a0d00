// @module-tag enlarged
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeSignature } from "./judge-signature.ts";

const tokens = ["ad_the_newest_token_of_all", "ad_the_older_token_of_all"];
const now = new Date("2026-03-01T10:00:00Z");
const body = Buffer.from('{"event":"rewarded","event_id":"evt_1","user_tg_id":"42","reference":"caf\u00e9 \u{1F600}"}');
const good = sign(body, tokens[0] ?? "");

const verdictOn = (headers: Record<string, string | string[] | undefined>, bytes: Uint8Array = body) => {
  const verdict = judgeSignature({ body: bytes, headers }, tokens, now);
  return verdict.outcome === "signed" ? "signed" : verdict.refusal.fault;
};

test("a signature by either token is accepted, and by no other", () => {
  for (const token of tokens) expect(verdictOn({ "x-signature": sign(body, token) })).toBe("signed");
  expect(verdictOn({ "x-signature": sign(body, "ad_some_other_token_of_all") })).toBe("wrong-signature");
});

describe("a header that is not exactly one signature of these bytes", () => {
  const hex = good.slice("sha256=".length);
  test.each<[string, string | string[] | undefined, string]>([
    ["missing", undefined, "missing-signature"],
    ["empty", "", "malformed-signature"],
    ["two values", [good, good], "malformed-signature"],
    ["two values in one", `${good}, ${good}`, "malformed-signature"],
    ["no prefix", hex, "malformed-signature"],
    ["another prefix", `sha512=${hex}`, "malformed-signature"],
    ["an upper-case prefix", `SHA256=${hex}`, "malformed-signature"],
    ["upper case", `sha256=${hex.toUpperCase()}`, "malformed-signature"],
    ["63 digits", good.slice(0, -1), "malformed-signature"],
    ["65 digits", `${good}0`, "malformed-signature"],
    ["junk after the hex", `${good};`, "malformed-signature"],
    ["a line feed after the hex", `${good}\n`, "malformed-signature"],
    ["not ASCII", `${good.slice(0, -1)}\u{ff10}`, "malformed-signature"],
    ["a megabyte", `sha256=${"a".repeat(1_000_000)}`, "malformed-signature"],
    ["empty", sign(Buffer.alloc(0), tokens[0] ?? ""), "wrong-signature"],
  ])("%s", (_what, header, fault) => {
    expect(verdictOn({ "x-signature": header })).toBe(fault);
  });
});

describe("a body with the same content in other bytes", () => {
  const text = body.toString("utf8");
  test.each<[string, Uint8Array]>([
    ["re-serialised", Buffer.from(JSON.stringify(JSON.parse(text), undefined, 1))],
    [
      "with its fields in another order",
      Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse()))),
    ],
    ["with escapes for letters", Buffer.from(text.replace("\u00e9", "\\u00e9"))],
    ["in UTF-16", Buffer.from(text, "utf16le")],
    ["in Latin-1", Buffer.from(text, "latin1")],
    ["decomposed", Buffer.from(text.normalize("NFD"))],
    ["behind a byte order mark", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])],
    ["before a line feed", Buffer.concat([body, Buffer.from("\n")])],
    ["without its last byte", body.subarray(0, -1)],
    ["twice", Buffer.concat([body, body])],
    ["empty", Buffer.alloc(0)],
  ])("%s", (_what, bytes) => {
    expect(verdictOn({ "x-signature": good }, bytes)).toBe("wrong-signature");
  });
});

describe("with Standard Webhooks headers", () => {
  const at = (secondsFromNow: number, token = tokens[0] ?? "") => ({
    "x-signature": good,
    ...signStandardWebhook({
      id: "evt_1",
      timestampSeconds: now.getTime() / 1000 + secondsFromNow,
      body,
      tokens: [token],
    }),
  });
  test.each([
    [-301, "stale"],
    [-300, "signed"],
    [0, "signed"],
    [300, "signed"],
    [301, "future"],
  ])("sent %i seconds from now it is judged %s", (seconds, verdict) => {
    expect(verdictOn(at(seconds))).toBe(verdict);
  });

  test("both signatures must be valid, and a single Standard Webhooks header requires the others", () => {
    expect(verdictOn({ ...at(0), "x-signature": sign(Buffer.from("{}"), tokens[0] ?? "") })).toBe("wrong-signature");
    expect(verdictOn({ ...at(0), "x-signature": undefined })).toBe("missing-signature");
    expect(verdictOn(at(0, "ad_some_other_token_of_all"))).toBe("wrong-webhook-signature");
    expect(verdictOn({ ...at(0), "webhook-id": "evt_2" })).toBe("wrong-webhook-signature");
    expect(verdictOn({ ...at(0), "webhook-timestamp": [String(now.getTime() / 1000)] })).toBe(
      "wrong-webhook-signature",
    );
    expect(verdictOn({ "x-signature": good, "webhook-attempt": "1" })).toBe("wrong-webhook-signature");
    expect(verdictOn({ "x-signature": good, "webhook-": "" })).toBe("wrong-webhook-signature");
  });
});

describe("what is wrong is named as far as a MAC proves it", () => {
  const text = body.toString("utf8");
  const fields = JSON.parse(text);
  const [newest = "", older = ""] = tokens;
  const sent = {
    "x-signature": good,
    ...signStandardWebhook({ id: "evt_1", timestampSeconds: now.getTime() / 1000, body, tokens: [newest] }),
  };
  const refusalOf = (
    headers: Record<string, string | undefined>,
    bytes: Uint8Array = body,
    known = tokens,
    at = now,
  ) => {
    const verdict = judgeSignature({ body: bytes, headers }, known, at);
    return verdict.outcome === "signed" ? undefined : verdict.refusal;
  };
  const wrong = (cause: string) => ({ fault: "wrong-signature", cause });

  test.each<[string, Buffer]>([
    ["is indented", Buffer.from(JSON.stringify(fields, undefined, 2))],
    ["has blanks as Python writes them", Buffer.from(text.replaceAll('":', '": ').replaceAll(',"', ', "'))],
    ["has its fields sorted", Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(fields).sort())))],
    ["has escapes for letters", Buffer.from(text.replace("\u00e9", "\\u00e9"))],
    ["is behind a byte order mark", Buffer.from(`\u{feff}${text}`)],
    ["is before a line feed", Buffer.from(`${text}\r\n`)],
    ["is in base64", Buffer.from(body.toString("base64"))],
    ["was read as Latin-1", Buffer.from(body.toString("latin1"))],
  ])("a body that %s", (_what, bytes) => {
    expect(refusalOf(sent, bytes)).toEqual(wrong("changed-body"));
    // Who changes something and cannot sign learns nothing.
    expect(refusalOf({ ...sent, "x-signature": sign(bytes, "ad_forged_by_somebody") }, bytes)).toEqual(
      wrong("unknown"),
    );
  });

  test("a body that something read before", () => {
    expect(refusalOf(sent, Buffer.alloc(0))).toEqual(wrong("empty-body"));
  });

  test("a token that the receiver does not have yet, while tokens rotate", () => {
    const rotating = {
      "x-signature": sign(body, "ad_the_token_of_tomorrow"),
      ...signStandardWebhook({
        id: "evt_1",
        timestampSeconds: now.getTime() / 1000,
        body,
        tokens: ["ad_the_token_of_tomorrow", newest],
      }),
    };
    expect(refusalOf(rotating)).toEqual(wrong("another-token"));
    expect(refusalOf({ ...rotating, "webhook-signature": rotating["webhook-signature"].split(" ")[0] })).toEqual(
      wrong("unknown"),
    );
  });

  test.each(["\n", "\r\n", " ", "\t", '"', "\u{feff}"])("a token that ends with %j", (padding) => {
    expect(refusalOf(sent, body, [newest + padding])).toEqual(wrong("padded-token"));
    expect(refusalOf(sent, body, [padding + newest + padding, older])).toEqual(wrong("padded-token"));
    expect(refusalOf(sent, body, [`ad_another_token_of_all${padding}`])).toEqual(wrong("unknown"));
  });

  test.each([
    [601, { fault: "stale", seconds: 601 }],
    [86_400 * 365, { fault: "stale", seconds: 86_400 * 365 }],
    [-3600, { fault: "future", seconds: 3600 }],
  ])("a clock that is %d s off, in seconds, and only for what is genuine", (seconds, expected) => {
    const at = new Date(now.getTime() + seconds * 1000);
    expect(refusalOf(sent, body, tokens, at)).toEqual(expected);
    expect(refusalOf({ ...sent, "webhook-id": "evt_2" }, body, tokens, at)).toEqual({
      fault: "wrong-webhook-signature",
      cause: "mismatch",
    });
    expect(refusalOf(sent, Buffer.from("{}"), tokens, at)).toEqual(wrong("unknown"));
  });

  test.each<[string, Record<string, string | undefined>, object]>([
    ["no webhook-id", { "webhook-id": undefined }, { cause: "missing-header", header: "webhook-id" }],
    [
      "no webhook-signature",
      { "webhook-signature": undefined },
      { cause: "missing-header", header: "webhook-signature" },
    ],
    [
      "an empty webhook-timestamp",
      { "webhook-timestamp": "" },
      { cause: "malformed-header", header: "webhook-timestamp" },
    ],
    ["a date", { "webhook-timestamp": now.toISOString() }, { cause: "malformed-header", header: "webhook-timestamp" }],
    ["milliseconds", { "webhook-timestamp": String(now.getTime()) }, { cause: "milliseconds" }],
    ["an id with a full stop", { "webhook-id": "evt.1" }, { cause: "malformed-header", header: "webhook-id" }],
  ])("a webhook with %s", (_what, change, expected) => {
    expect(refusalOf({ ...sent, ...change })).toEqual({ fault: "wrong-webhook-signature", ...expected });
  });
});

test("for any headers and bytes, nothing is thrown and nothing is accepted", { tags: "long" }, () => {
  const name = fc.constantFrom("x-signature", "webhook-id", "webhook-timestamp", "webhook-signature", "webhook-x");
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.dictionary(name, value), (bytes, headers) => {
      expect(verdictOn(headers, bytes)).not.toBe("signed");
    }),
    { numRuns: 5000 },
  );
});

const rounds = process.env.LONG_TESTS === "true" ? 100 : 10;

test(`of ${rounds * 10_000} headers and bodies that differ slightly from the signed ones, none is accepted`, {
  timeout: 300_000,
}, () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 0x7fff_ffff }), (seed) => {
      const random = randomFrom(seed);
      for (let tries = 0; tries < 10_000; tries++) {
        const headers = { "x-signature": tries % 2 === 0 ? changed(good, random) : good };
        const bytes = tries % 2 === 0 ? body : changedBytes(random);
        const verdict = judgeSignature({ body: bytes, headers }, tokens.slice(0, 1), now);
        if (verdict.outcome === "signed") throw new Error(JSON.stringify({ headers, body: bytes.toString("hex") }));
      }
    }),
    { numRuns: rounds },
  );
});

/** Numerical Recipes' generator: a million draws of fast-check's own would take a minute. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const letters = "0123456789abcdefABCDEF= ,sha256\u00e9\0\n";

function changed(text: string, random: (below: number) => number): string {
  const place = random(text.length);
  const letter = letters[random(letters.length)] ?? "";
  const [before, old, after] = [text.slice(0, place), text[place], text.slice(place + 1)];
  const kind = random(4);
  if (kind === 0 && letter !== old) return before + letter + after;
  if (kind === 1) return before + after;
  if (kind === 2) return text.slice(0, place);
  return before + letter + old + after;
}

function changedBytes(random: (below: number) => number): Buffer {
  const bytes = Buffer.from(body);
  const place = random(bytes.length);
  bytes[place] = (bytes[place] ?? 0) ^ (1 + random(255));
  return bytes;
}
