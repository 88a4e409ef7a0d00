import type { Bot } from "@intermission/operator-api/bots";
import { expect, test } from "vitest";
import { readBotForm, valuesOf } from "../src/bots/bot-form-values.ts";
import { changedFields } from "../src/ui/typed-settings.tsx";

const bot: Bot = {
  botId: "7000000001",
  codePrefix: "abcd",
  name: "Quiz",
  username: "quiz_bot",
  webhookUrl: "https://quiz.example/webhooks",
  publisherApiUrl: null,
  deliveryMode: "at-least-once",
  codeLifetimeSeconds: 3600,
  cooldownSeconds: 60,
  dailyCap: 20,
  testers: ["42"],
  category: "games",
  timeZone: "UTC",
  blockedCategories: ["betting"],
  blockedAdvertisers: ["Shop, Ltd", "Twin Mills"],
  suspiciousViews: "pay",
  suspiciousClicks: "hold-farms",
  payPerCode: "once",
  rewardPerView: 5,
  rewardPerClick: null,
  rewardUnit: { en: { one: "coin", other: "coins" }, ja: { other: "コイン" } },
  skipOffer: false,
  closeWhenCredited: false,
  includeRevenue: false,
  isSuspended: false,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};
const shown = valuesOf(bot);

test("what the form shows of a bot is read as what the bot has", async () => {
  const { testers: _, isSuspended: __, botId, codePrefix, createdAt, updatedAt, ...settings } = bot;
  expect(changedFields(valuesOf({ ...bot, botId, codePrefix, createdAt, updatedAt }), shown)).toEqual([]);
  const all = Object.keys(shown) as (keyof typeof shown)[];
  expect(await readBotForm(shown, all)).toEqual({ outcome: "changes", body: settings });
});

test("a change says nothing about fields that were not typed into, and empty ones are cleared", async () => {
  const typed = { ...shown, username: " @new_quiz ", dailyCap: "30", webhookUrl: "", rewardUnit: "", skipOffer: true };
  const fields = changedFields(shown, typed);
  const body = { username: "new_quiz", dailyCap: 30, webhookUrl: null, rewardUnit: null, skipOffer: true };
  expect(await readBotForm(typed, fields)).toEqual({ outcome: "changes", body });
});

test.each([
  ["dailyCap", "", "Must be a number."],
  ["dailyCap", "0", "Must be 1 or more."],
  ["dailyCap", "2.5", "Must be a whole number."],
  ["rewardPerView", "many", "Must be a number."],
  ["timeZone", "Mars", "time zone"],
  ["blockedCategories", "betting, Big Words", "small letters"],
  ["rewardUnit", "en one=coin", "Write this line as en: one=coin, other=coins"],
  ["rewardUnit", "en: one=coin", "The plural forms of en: one, other."],
  ["rewardUnit", "ja: other=", "Write this line as"],
] as const)("%s %j is refused at its field, in both languages", async (field, text, sentence) => {
  const read = await readBotForm({ ...shown, [field]: text }, [field]);
  if (read.outcome !== "refused") throw new Error("it was accepted");
  expect(Object.keys(read.faults)).toEqual([field]);
  expect(read.faults[field]?.en).toContain(sentence);
  expect(read.faults[field]?.ru).toMatch(/[а-я]/);
});
