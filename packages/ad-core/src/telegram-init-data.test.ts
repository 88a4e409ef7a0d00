import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  publicKeyOf,
  signInitData,
  telegramPublicKeys,
  verifyInitDataWithBotId,
  verifyInitDataWithBotToken,
} from "./telegram-init-data.ts";
import vectors from "./vectors.json" with { type: "json" };

const [vector] = vectors.telegram_init_data;
if (vector === undefined) throw new Error("vectors.json holds no init data");
const {
  bot_id: botId,
  bot_token: botToken,
  public_key_hex: publicKeyHex,
  private_key_pkcs8_base64: privateKey,
  init_data: initData,
} = vector;
const publicKey = publicKeyOf(publicKeyHex);
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

test.each(vectors.telegram_init_data)("both checks accept $description, and return the user", async (one) => {
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
  const input = { initData: one.init_data, now: new Date(one.now) };
  expect(verifyInitDataWithBotToken({ ...input, botToken: one.bot_token })).toEqual(expected);
  expect(
    await verifyInitDataWithBotId({ ...input, botId: one.bot_id, publicKey: publicKeyOf(one.public_key_hex) }),
  ).toEqual(expected);
});

describe.each(ways)("with %s", (way, verify) => {
  const missing = way === "the bot's token" ? "missing-hash" : "missing-signature";
  const without = (name: string) => initData.replace(new RegExp(`&?${name}=[^&]*`), "");

  const refusals: [string, string, string][] = [
    ["empty", "", "empty"],
    ["over 8 KiB", `${initData}&x=${"a".repeat(8192)}`, "too-long"],
    ["a field without a value", `${initData}&x`, "malformed"],
    ["a broken escape", `${initData}&x=%E0%A4`, "malformed"],
    ["a duplicate field", `${initData}&user=1`, "duplicate-key"],
    ["a duplicate field in another spelling", `${initData}&us%65r=1`, "duplicate-key"],
    ["a field whose value contains a newline", initData.replace("&start_param=", "%0Astart_param="), "malformed"],
    ["a field whose name contains a newline", `${initData}&x%0Ay=1`, "malformed"],
    ["a field whose name contains an equals sign", initData.replace("user=", "user%3D="), "malformed"],
    ["no signature", without(way === "the bot's token" ? "hash" : "signature"), missing],
    ["a field added", `${initData}&x=1`, "wrong-signature"],
    ["a field changed", initData.replace("42", "43"), "wrong-signature"],
    ["without a user", signed({ user: "" }), "no-user"],
    ["a user without an id", signed({ user: "{}" }), "no-user"],
    ["a user whose id is text", signed({ user: '{"id":"42"}' }), "no-user"],
    ["a user that is not JSON", signed({ user: "{" }), "no-user"],
    ["a user that is null", signed({ user: "null" }), "no-user"],
    ["a user whose id is not a whole number", signed({ user: '{"id":4.2}' }), "no-user"],
    ["a user whose id is not above zero", signed({ user: '{"id":0}' }), "no-user"],
    ["a user whose id is beyond the safe integers", signed({ user: '{"id":9007199254740993}' }), "no-user"],
    ["no date", signed({ auth_date: "" }), "malformed"],
    ["a date that is not a number", signed({ auth_date: "1e9" }), "malformed"],
  ];
  test.each(refusals)("%s is refused", async (_what, data, reason) => {
    expect(await verify(data)).toEqual({ outcome: "refused", reason });
  });

  test("init data is accepted up to an hour old and up to a minute ahead of the clock", async () => {
    const at = (seconds: number) => verify(initData, new Date((1_767_323_045 + seconds) * 1000));
    expect((await at(3600)).outcome).toBe("valid");
    expect(await at(3601)).toEqual({ outcome: "refused", reason: "stale" });
    expect((await at(-60)).outcome).toBe("valid");
    expect(await at(-61)).toEqual({ outcome: "refused", reason: "future" });
    expect((await at(Number.NaN)).outcome).toBe("refused");
  });

  test("signed init data verifies with any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 100 }), async (text) => {
        expect(await verify(signed({ start_param: text }))).toMatchObject({ outcome: "valid", startParam: text });
      }),
    );
  });

  test("a flip of any one bit is refused, unless the signed fields stay the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(initData.length - 1), fc.nat(7), async (at, bit) => {
        const letter = String.fromCharCode(initData.charCodeAt(at) ^ (1 << bit));
        const changed = initData.slice(0, at) + letter + initData.slice(at + 1);
        fc.pre(signedFields(changed, way) !== signedFields(initData, way));
        expect((await verify(changed)).outcome).toBe("refused");
      }),
      { numRuns: runsToReachAll(100) },
    );
  });

  test("no text makes it throw, and only the signed text is accepted", async () => {
    const pieces = fc.constantFrom(...initData.split(/(?=[&=%])|(?<=[&=%])/), "hash", "\n", "\0", "\ud800", "%ff");
    const soup = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(fc.oneof(soup, fc.string({ unit: "binary" })), async (text) => {
        fc.pre(text !== initData);
        expect((await verify(text)).outcome).toBe("refused");
      }),
      { numRuns: runsToReachAll(100) },
    );
  });
});

/** `%d0` and `%D0` encode the same byte, and the Ed25519 signature does not cover `hash`. */
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

test("init data of Telegram's other servers is told apart from forged data", async () => {
  const { publicKey: strangersKey } = generateKeyPairSync("ed25519");
  const reasonWith = async (keys: { publicKey: KeyObject; otherPublicKey?: KeyObject }, data = initData) => {
    const verdict = await verifyInitDataWithBotId({ initData: data, botId, now, ...keys });
    return verdict.outcome === "refused" ? verdict.reason : verdict.outcome;
  };
  expect(await reasonWith({ publicKey: strangersKey, otherPublicKey: publicKey })).toBe("other-servers");
  expect(await reasonWith({ publicKey, otherPublicKey: strangersKey })).toBe("valid");
  expect(await reasonWith({ publicKey: strangersKey, otherPublicKey: publicKey }, initData.replace("42", "43"))).toBe(
    "wrong-signature",
  );
  expect(telegramPublicKeys.test).toMatch(/^[0-9a-f]{64}$/);
});

test("with Telegram's key, only Telegram's signature verifies", async () => {
  expect(telegramPublicKeys.production).toBe(vectors.telegram_production_public_key_hex);
  const ofTelegram = publicKeyOf(telegramPublicKeys.production);
  expect(await verifyInitDataWithBotId({ initData, botId, now, publicKey: ofTelegram })).toEqual({
    outcome: "refused",
    reason: "wrong-signature",
  });
});

test.each(["", "00", "g".repeat(64)])("%j is no public key, which is a configuration error", (malformed) => {
  expect(() => publicKeyOf(malformed)).toThrow("public key");
});

test("the last bits of a signature cannot be spelled another way", async () => {
  const respelled = initData.replace(/(signature=[^&]{85})A/, "$1B");
  expect(respelled).not.toBe(initData);
  const verdict = await verifyInitDataWithBotId({ initData: respelled, botId, publicKey, now });
  expect(verdict).toEqual({ outcome: "refused", reason: "wrong-signature" });
});
