import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  signInitData,
  telegramPublicKey,
  verifyInitDataWithBotId,
  verifyInitDataWithBotToken,
} from "./telegram-init-data.ts";
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
  [
    "the bot's token",
    async (data: string, at = now) => verifyInitDataWithBotToken({ initData: data, botToken, now: at }),
  ],
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

test.each(vectors.telegram_init_data)("both ways accept $description, and tell the user", async (one) => {
  const expected = {
    outcome: "valid",
    user: {
      id: one.user_id,
      ...(one.language_code !== null && { languageCode: one.language_code }),
      ...(one.is_premium !== null && { isPremium: one.is_premium }),
    },
    authDate: new Date(one.auth_date * 1000),
    ...(one.start_param !== null && { startParam: one.start_param }),
    ...(one.query_id !== null && { queryId: one.query_id }),
  };
  const given = { initData: one.init_data, now: new Date(one.now) };
  expect(verifyInitDataWithBotToken({ ...given, botToken: one.bot_token })).toEqual(expected);
  expect(await verifyInitDataWithBotId({ ...given, botId: one.bot_id, publicKey: one.public_key_hex })).toEqual(
    expected,
  );
});

describe.each(ways)("with %s", (way, verify) => {
  const missing = way === "the bot's token" ? "missing-hash" : "missing-signature";
  const without = (name: string) => initData.replace(new RegExp(`&?${name}=[^&]*`), "");

  const refusals: [string, string, string][] = [
    ["empty", "", "empty"],
    ["over 8 KiB", `${initData}&x=${"a".repeat(8192)}`, "too-long"],
    ["a field without a value", `${initData}&x`, "malformed"],
    ["a broken escape", `${initData}&x=%E0%A4`, "malformed"],
    ["a field named twice", `${initData}&user=1`, "duplicate-key"],
    ["a field named twice in another spelling", `${initData}&us%65r=1`, "duplicate-key"],
    ["a field whose value holds a newline", initData.replace("&start_param=", "%0Astart_param="), "malformed"],
    ["a field whose name holds a newline", `${initData}&x%0Ay=1`, "malformed"],
    ["a field whose name holds an equals sign", initData.replace("user=", "user%3D="), "malformed"],
    ["no signature", without(way === "the bot's token" ? "hash" : "signature"), missing],
    ["a field added", `${initData}&x=1`, "wrong-signature"],
    ["a field changed", initData.replace("42", "43"), "wrong-signature"],
    ["without a user", signed({ user: "" }), "no-user"],
    ["a user without an id", signed({ user: "{}" }), "no-user"],
    ["a user whose id is text", signed({ user: '{"id":"42"}' }), "no-user"],
    ["a user who is not JSON", signed({ user: "{" }), "no-user"],
    ["a user who is null", signed({ user: "null" }), "no-user"],
    ["a user whose id is no whole number", signed({ user: '{"id":4.2}' }), "no-user"],
    ["a user whose id is not above zero", signed({ user: '{"id":0}' }), "no-user"],
    ["a user whose id a JSON number cannot hold", signed({ user: '{"id":9007199254740993}' }), "no-user"],
    ["no date", signed({ auth_date: "" }), "malformed"],
    ["a date that is no number", signed({ auth_date: "1e9" }), "malformed"],
  ];
  test.each(refusals)("%s is refused", async (_what, data, reason) => {
    expect(await verify(data)).toEqual({ outcome: "refused", reason });
  });

  test("an hour is the limit of its age, a minute that of a fast clock", async () => {
    const at = (seconds: number) => verify(initData, new Date((1_767_323_045 + seconds) * 1000));
    expect((await at(3600)).outcome).toBe("valid");
    expect(await at(3601)).toEqual({ outcome: "refused", reason: "stale" });
    expect((await at(-60)).outcome).toBe("valid");
    expect(await at(-61)).toEqual({ outcome: "refused", reason: "future" });
    expect((await at(Number.NaN)).outcome).toBe("refused");
  });

  test("what is signed verifies, whatever text it holds", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 100 }), async (text) => {
        expect(await verify(signed({ start_param: text }))).toMatchObject({ outcome: "valid", startParam: text });
      }),
    );
  });

  test("one flipped bit anywhere is refused, unless the fields it signs stay the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(initData.length - 1), fc.nat(7), async (at, bit) => {
        const letter = String.fromCharCode(initData.charCodeAt(at) ^ (1 << bit));
        const changed = initData.slice(0, at) + letter + initData.slice(at + 1);
        fc.pre(signedFields(changed, way) !== signedFields(initData, way));
        expect((await verify(changed)).outcome).toBe("refused");
      }),
      { numRuns: 1000 },
    );
  });

  test("no text throws, and none but the signed is accepted", async () => {
    const pieces = fc.constantFrom(...initData.split(/(?=[&=%])|(?<=[&=%])/), "hash", "\n", "\0", "\ud800", "%ff");
    const soup = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(fc.oneof(soup, fc.string({ unit: "binary" })), async (text) => {
        fc.pre(text !== initData);
        expect((await verify(text)).outcome).toBe("refused");
      }),
      { numRuns: 1000 },
    );
  });
});

/** `%d0` and `%D0` spell one byte, and the Ed25519 signature does not cover `hash`. */
function signedFields(data: string, way: string): string {
  const fields = new URLSearchParams(data);
  if (way === "the bot's id") fields.delete("hash");
  return fields.toString();
}

test("init data of one bot is refused for another", async () => {
  expect(await verifyInitDataWithBotId({ initData, botId: "7000000002", publicKey, now })).toMatchObject({
    reason: "wrong-signature",
  });
  expect(verifyInitDataWithBotToken({ initData, botToken: `${botToken}x`, now })).toMatchObject({
    reason: "wrong-signature",
  });
});

test("without a key of ours, the signature must be Telegram's own", async () => {
  expect(telegramPublicKey).toBe(vectors.telegram_production_public_key_hex);
  expect(await verifyInitDataWithBotId({ initData, botId, now })).toEqual({
    outcome: "refused",
    reason: "wrong-signature",
  });
});

test.each(["", "00", "g".repeat(64)])("%j rejects as a public key, being a fault of ours", async (malformed) => {
  const verdict = verifyInitDataWithBotId({ initData, botId, publicKey: malformed, now });
  await expect(verdict).rejects.toThrow("public key");
});

test("the last bits of a signature cannot be spelled another way", async () => {
  const respelled = initData.replace(/(signature=[^&]{85})A/, "$1B");
  expect(respelled).not.toBe(initData);
  const verdict = await verifyInitDataWithBotId({ initData: respelled, botId, publicKey, now });
  expect(verdict).toEqual({ outcome: "refused", reason: "wrong-signature" });
});
