import fc from "fast-check";
import { expect, test } from "vitest";
import { deriveSessionKey } from "../bots/bot.ts";
import { issueSessionToken, readSessionToken } from "./sign-in.ts";

const secrets = { telegramBotToken: "1:token", backendKeyHash: "key", botId: "1" };
const key = deriveSessionKey(secrets);
const now = new Date("2026-03-01T10:00:00Z");
const inAnHour = now.getTime() / 1000 + 3600;

test("a token identifies its user until it expires", () => {
  const token = issueSessionToken(key, "42", inAnHour);
  expect(readSessionToken(key, token, now)).toBe("42");
  expect(readSessionToken(key, token, new Date((inAnHour - 1) * 1000))).toBe("42");
  expect(readSessionToken(key, token, new Date(inAnHour * 1000))).toBeNull();
});

test.each(["telegramBotToken", "backendKeyHash", "botId"])("replacing %s ends every session", (name) => {
  const token = issueSessionToken(key, "42", inAnHour);
  expect(readSessionToken(deriveSessionKey({ ...secrets, [name]: "2" }), token, now)).toBeNull();
});

test("characters cannot be shifted from one secret to the other", () => {
  const shifted = deriveSessionKey({ ...secrets, telegramBotToken: "1:tokenk", backendKeyHash: "ey" });
  expect(shifted).not.toEqual(key);
});

test("a token with any changed character is invalid, and reading it never throws", () => {
  const token = issueSessionToken(key, "42", inAnHour);
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (place, character) => {
      const changed = token.slice(0, place) + character + token.slice(place + 1);
      // The last base64url character has two bits that decode to nothing.
      const isSameBytes = place === token.length - 1;
      expect(changed === token || isSameBytes || readSessionToken(key, changed, now) === null).toBe(true);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => readSessionToken(key, text, now) === null));
});
