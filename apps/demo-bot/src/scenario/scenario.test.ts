import { expect, test } from "vitest";
import { phrasesOf } from "./phrases.ts";
import { announceReward, answerMessage, type Rewards, seedPrice } from "./scenario.ts";

const phrases = phrasesOf("en");
const now = new Date("2026-01-02T03:04:05Z");

/** A publisher's ledger in memory: the other side of the scenario's port. */
function ledger(coins: number, lastRewardAt?: Date): Rewards & { spends: string[] } {
  const spends: string[] = [];
  return {
    spends,
    createAd: async () => ({
      outcome: "created",
      miniappUrl: "https://ads.example/app/7?code=c",
      directLink: "https://ads.example/c",
    }),
    balance: async () => coins,
    async spend(_userId, amount, key) {
      spends.push(key);
      return coins >= amount
        ? { outcome: "spent", balance: coins - amount }
        : { outcome: "insufficient", balance: coins };
    },
    lastRewardAt: async () => lastRewardAt,
  };
}

const say = (text: string, rewards: Rewards, cooldownSeconds = 15) =>
  answerMessage({ userId: "42", text, messageId: "message-1", phrases, now }, rewards, cooldownSeconds);

test("/bonus offers an ad with its button and its link", async () => {
  const reply = await say("/bonus", ledger(0));
  expect(reply.ad).toMatchObject({
    miniappUrl: "https://ads.example/app/7?code=c",
    directLink: "https://ads.example/c",
  });
});

test("/bonus within the cooldown says how long to wait, and offers again when it is over", async () => {
  const early = await say("/bonus", ledger(0, new Date(now.getTime() - 5000)));
  expect(early.ad).toBeUndefined();
  expect(early.text).toContain("10 seconds");
  const late = await say("/bonus", ledger(0, new Date(now.getTime() - 15_000)));
  expect(late.ad).toBeDefined();
});

test("/bonus while no code can be had is explained", async () => {
  const reply = await say("/bonus", { ...ledger(0), createAd: async () => ({ outcome: "unavailable" }) });
  expect(reply).toEqual({ text: phrases.unavailable, suggestions: ["/bonus"] });
});

test("/buy spends once a message, and says what is missing", async () => {
  const rich = ledger(seedPrice + 5);
  expect((await say("/buy", rich)).text).toContain("5 coins left");
  expect(rich.spends).toEqual(["message-1"]);
  expect((await say("/buy", ledger(1))).text).toContain("1 coin.");
});

test("a reward is announced with its balance, an unpaid one with its reason, a purchase not at all", () => {
  const paid = { amount: 10, event: "rewarded" as const, reason: null, balance: 30 };
  expect(announceReward(paid, phrases)?.text).toBe("+10 coins for watching. You have 30 coins now.");
  expect(announceReward({ ...paid, amount: 0, reason: "daily-cap", balance: null }, phrases)?.text).toBe(
    phrases.dailyCap,
  );
  expect(announceReward({ ...paid, amount: 0, reason: "code-already-paid", balance: null }, phrases)?.text).toBe(
    phrases.notPaid,
  );
  expect(announceReward({ ...paid, amount: -25, event: null }, phrases)).toBeUndefined();
});

test("numbers have the right plural in Russian", () => {
  const russian = phrasesOf("ru-RU");
  expect([1, 3, 5, 21].map((count) => russian.balance(count))).toEqual([
    "У вас 1 монета.",
    "У вас 3 монеты.",
    "У вас 5 монет.",
    "У вас 21 монета.",
  ]);
});
