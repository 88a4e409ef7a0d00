import { randomBytes } from "node:crypto";
import { secretBox } from "@intermission/server/secret-box";
import { expect, test } from "vitest";
import { issueTaskGrant, readTaskGrant } from "./task-grant.ts";

const now = new Date("2026-03-01T12:00:00Z");
const later = (hours: number) => new Date(now.getTime() + hours * 3_600_000);

test("a grant names its user to its bot alone, for twelve hours, and a changed one names nobody", () => {
  const box = secretBox(randomBytes(32));
  const token = issueTaskGrant(box, "7", { userId: "42", languageCode: "ru", now });
  const read = (changes: object = {}) => readTaskGrant(box, { token, botId: "7", now, ...changes });
  expect(read({ now: later(11.9) })).toEqual({ outcome: "valid", userId: "42", languageCode: "ru" });
  expect(read({ now: later(12) })).toEqual({ outcome: "expired" });
  expect(read({ botId: "8" })).toEqual({ outcome: "invalid" });
  expect(read({ token: `${token.slice(0, -2)}AA` })).toEqual({ outcome: "invalid" });
  expect(readTaskGrant(secretBox(randomBytes(32)), { token, botId: "7", now })).toEqual({ outcome: "invalid" });
});
