import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signInitData, verifyInitDataWithBotId, verifyInitDataWithBotToken } from "./telegram-init-data.ts";
import vectors from "./vectors.json" with { type: "json" };

const [vector] = vectors.telegram_init_data;
if (vector === undefined) throw new Error("vectors.json holds no init data");
const {
  bot_id: botId,
  bot_token: botToken,
  public_key_hex: publicKey,
  private_key_pkcs8_base64: privateKey,
  init_data: initData,
} = vector;
const now = new Date(vector.now);
const authDate = Math.floor(now.getTime() / 1000) - 10;

const ways = [
  ["the bot's token", (data: string, at = now) => verifyInitDataWithBotToken({ initData: data, botToken, now: at })],
  ["the bot's id", (data: string, at = now) => verifyInitDataWithBotId({ initData: data, botId, publicKey, now: at })],
] as const;

function signed(fields: Record<string, string>): string {
  return signInitData({
    fields: { auth_date: String(authDate), user: '{"id":42}', ...fields },
    botToken,
    botId,
    privateKey,
  });
}

describe.each(ways)("with %s", (way, verify) => {
  const missing = way === "the bot's token" ? "missing-hash" : "missing-signature";
  const without = (name: string) => initData.replace(new RegExp(`&?${name}=[^&]*`), "");

  test("the vector is valid and tells its user", () => {
    expect(verify(initData)).toEqual({
      outcome: "valid",
      user: { id: "42", languageCode: "en", isPremium: true },
      authDate: new Date(1_767_323_045_000),
      startParam: vector.start_param,
      queryId: "AAHdF6IQAAAAAN0XohDhrOrc",
    });
  });

  const refusals: [string, string, string][] = [
    ["empty", "", "empty"],
    ["over 8 KiB", `${initData}&x=${"a".repeat(8192)}`, "too-long"],
    ["a field without a value", `${initData}&x`, "malformed"],
    ["a broken escape", `${initData}&x=%E0%A4`, "malformed"],
    ["a field named twice", `${initData}&user=1`, "duplicate-key"],
    ["a field named twice in another spelling", `${initData}&us%65r=1`, "duplicate-key"],
    ["no signature", without(way === "the bot's token" ? "hash" : "signature"), missing],
    ["a field added", `${initData}&x=1`, "wrong-signature"],
    ["a field changed", initData.replace("42", "43"), "wrong-signature"],
    ["without a user", signed({ user: "" }), "no-user"],
    ["a user without an id", signed({ user: "{}" }), "no-user"],
    ["a user whose id is text", signed({ user: '{"id":"42"}' }), "no-user"],
    ["a user who is not JSON", signed({ user: "{" }), "no-user"],
    ["no date", signed({ auth_date: "" }), "malformed"],
    ["a date that is no number", signed({ auth_date: "1e9" }), "malformed"],
  ];
  test.each(refusals)("%s is refused", (_what, data, reason) => {
    expect(verify(data)).toEqual({ outcome: "refused", reason });
  });

  test("an hour is the limit of its age, a minute that of a fast clock", () => {
    const at = (seconds: number) => verify(initData, new Date((1_767_323_045 + seconds) * 1000));
    expect(at(3600).outcome).toBe("valid");
    expect(at(3601)).toEqual({ outcome: "refused", reason: "stale" });
    expect(at(-60).outcome).toBe("valid");
    expect(at(-61)).toEqual({ outcome: "refused", reason: "future" });
  });

  test("what is signed verifies, whatever text it holds", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 100 }), (text) => {
        expect(verify(signed({ start_param: text }))).toMatchObject({ outcome: "valid", startParam: text });
      }),
    );
  });

  test("one changed character anywhere is refused, and hostile text never throws", () => {
    fc.assert(
      fc.property(fc.nat(initData.length - 1), fc.constantFrom("0", "A", "%", "&", "=", "+"), (at, letter) => {
        const changed = initData.slice(0, at) + letter + initData.slice(at + 1);
        const isSame = new URLSearchParams(changed).toString() === new URLSearchParams(initData).toString();
        if (!isSame && !onlyUnsignedTextDiffers(changed, way)) expect(verify(changed).outcome).toBe("refused");
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(verify(text).outcome).toBe("refused");
      }),
    );
  });
});

/** The Ed25519 signature does not cover `hash`, nor the last bits of its own base64url text. */
function onlyUnsignedTextDiffers(changed: string, way: string): boolean {
  if (way === "the bot's token") return false;
  const strip = (data: string) => data.replace(/&hash=[^&]*/, "").replace(/(signature=[^&]{85})[^&]/, "$1");
  return strip(changed) === strip(initData);
}

test("init data of one bot is refused for another", () => {
  expect(verifyInitDataWithBotId({ initData, botId: "7000000002", publicKey, now })).toMatchObject({
    reason: "wrong-signature",
  });
  expect(verifyInitDataWithBotToken({ initData, botToken: `${botToken}x`, now })).toMatchObject({
    reason: "wrong-signature",
  });
  expect(verifyInitDataWithBotId({ initData, botId, now })).toMatchObject({ reason: "wrong-signature" });
});
