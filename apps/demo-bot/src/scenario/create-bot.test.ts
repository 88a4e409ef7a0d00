import { expect, test } from "vitest";
import { SEED_PRICE } from "./answer-message.ts";
import type { Reply } from "./chat-port.ts";
import { choosePhrases, createBot } from "./create-bot.ts";
import type { RecordedEntry, RewardsPort } from "./rewards-port.ts";

const now = new Date("2026-01-02T03:04:05Z");
const ad = { outcome: "created", miniappUrl: "https://ads.example/app/7?code=c", directLink: "https://ads.example/c" };

interface Fixture {
  readonly coins?: number;
  readonly paidSecondsAgo?: number;
  readonly cooldownSeconds?: number;
  readonly language?: string;
  readonly rewards?: Partial<RewardsPort>;
}

/** The bot with a fake messenger and a fake ledger, which record what it sends and buys. */
function fixture({ coins = 0, paidSecondsAgo, cooldownSeconds = 15, language = "en-GB", rewards = {} }: Fixture = {}) {
  const said: { userId: string; reply: Reply; key: string }[] = [];
  const spends: string[] = [];
  const troubles: unknown[] = [];
  const bot = createBot({
    chat: {
      send: async (userId, reply, key) => void said.push({ userId, reply, key }),
      languageOf: () => language,
    },
    rewards: {
      createAd: async () => ({ ...ad, outcome: "created" }),
      tasks: async () => [],
      balance: async () => coins,
      async spend(_userId, amount, key) {
        spends.push(key);
        return coins >= amount
          ? { outcome: "spent", balance: coins - amount }
          : { outcome: "insufficient", balance: coins };
      },
      async lastPaidAt(_userId, since) {
        if (paidSecondsAgo === undefined) return undefined;
        const paidAt = new Date(now.getTime() - paidSecondsAgo * 1000);
        return paidAt > since ? paidAt : undefined;
      },
      ...rewards,
    },
    cooldownSeconds,
    now: () => now,
    onTrouble: (error) => troubles.push(error),
  });
  return {
    bot,
    said,
    spends,
    troubles,
    async hear(text: string) {
      await bot.hear({ id: "message-1", userId: "42", text });
      return said.at(-1)?.reply;
    },
    async tell(entry: Partial<RecordedEntry>) {
      const base = {
        entryId: "9",
        userId: "42",
        event: "rewarded",
        code: "c",
        reference: null,
        amount: 10,
        reason: null,
        balance: 30,
      } as const;
      await bot.tell({ ...base, ...entry });
      return said.at(-1)?.reply.text;
    },
  };
}

const down = async () => Promise.reject(new Error("connection refused"));

test("/bonus offers an ad as a button and as a link", async () => {
  const reply = await fixture().hear("/bonus");
  expect(reply?.ad).toEqual({
    label: "Watch an ad",
    miniappUrl: ad.miniappUrl,
    linkLabel: "No mini-apps? Use this link",
    directLink: ad.directLink,
  });
});

test("within the cooldown /bonus shows the remaining wait; after it, /bonus offers an ad again", async () => {
  const early = await fixture({ paidSecondsAgo: 5 }).hear("/bonus");
  expect(early?.ad).toBeUndefined();
  expect(early?.text).toContain("10 seconds");
  expect((await fixture({ paidSecondsAgo: 15 }).hear("/bonus"))?.ad).toBeDefined();
  expect((await fixture({ paidSecondsAgo: 0, cooldownSeconds: 0 }).hear("/bonus"))?.ad).toBeDefined();
});

test("a long wait is shown in minutes and hours, rounded up", async () => {
  const wait = async (cooldownSeconds: number) =>
    (await fixture({ paidSecondsAgo: 0, cooldownSeconds }).hear("/bonus"))?.text;
  expect(await wait(90)).toContain("90 seconds");
  expect(await wait(121)).toContain("3 minutes");
  expect(await wait(5401)).toContain("2 hours");
});

test("when no code is available, the ad service's wait is shown", async () => {
  const unavailable = (retryAfterSeconds?: number) =>
    fixture({ rewards: { createAd: async () => ({ outcome: "unavailable", retryAfterSeconds }) } }).hear("/bonus");
  expect((await unavailable(30))?.text).toContain("in 30 seconds");
  expect((await unavailable())?.text).toContain("in a moment");
});

test("when the backend is down, the user is asked to try again and the error is reported", async () => {
  const { hear, troubles } = fixture({ rewards: { balance: down } });
  expect((await hear("/balance"))?.text).toBe("Something went wrong on my side. Please try again in a moment.");
  expect(troubles).toEqual([new Error("connection refused")]);
});

test("/buy spends once per message, with the message's id as the key", async () => {
  const rich = fixture({ coins: SEED_PRICE + 5 });
  expect((await rich.hear("/buy"))?.text).toBe("Here are your seeds! You have 5 coins left.");
  expect(rich.spends).toEqual(["message-1"]);
  expect((await fixture({ coins: 1 }).hear("/buy"))?.text).toContain("you have 1 coin.");
});

test("a purchase without a response is not offered again: it may have been recorded", async () => {
  const reply = await fixture({ rewards: { spend: down } }).hear("/buy");
  expect(reply?.text).toContain("look at your balance");
  expect(reply?.suggestions).toEqual([expect.objectContaining({ command: "/balance" })]);
});

test.each(["/START", " /start@coin_garden_bot hello", "/start\n"])("%j is the command /start", async (text) => {
  expect((await fixture().hear(text))?.text).toContain("Welcome to Coin Garden!");
});

test.each(["hello", "/starting", "/", "constructor", "/constructor"])("%j is not a command", async (text) => {
  expect((await fixture().hear(text))?.text).toBe("I understand /bonus, /tasks, /balance and /buy.");
});

test("a payment is announced with the balance, with the entry's id as the key", async () => {
  const { tell, said } = fixture();
  expect(await tell({})).toBe("+10 coins for watching. You have 30 coins now.");
  expect(await tell({ event: "direct_link", amount: 3 })).toBe(
    "+3 coins for following the link. You have 30 coins now.",
  );
  expect(said[0]?.key).toBe("entry-9");
});

test("/tasks offers channels to join, each by a button that leads to the user's own link", async () => {
  const task = { title: "Flower News", url: "https://ads.example/task/c", holdDays: 3 };
  const reply = await fixture({ rewards: { tasks: async () => [task] } }).hear("/tasks");
  expect(reply).toMatchObject({ buttons: [{ label: "Flower News", url: task.url }] });
  expect(reply?.text).toContain("within 3 days");
  expect((await fixture().hear("/tasks"))?.text).toContain("no channel");
});

test("a task is announced when it is paid and when it is taken back, and not when it pays nothing", async () => {
  const { tell, said } = fixture();
  expect(await tell({ event: "task", amount: 5 })).toBe("+5 coins for joining. You have 30 coins now.");
  expect(await tell({ event: "task_reversed", amount: -5, balance: -2 })).toBe(
    "−5 coins: you left the channel too early. You have -2 coins now.",
  );
  await tell({ event: "task", amount: 0, reason: "task-reversed", balance: null });
  expect(said).toHaveLength(2);
});

test.each([
  ["daily-cap", "Come back tomorrow"],
  ["code-already-paid", "paid before"],
  ["code-of-another-user", "somebody else’s"],
])("a view or click that paid nothing (%s) is explained", async (reason, words) => {
  expect(await fixture().tell({ amount: 0, reason, balance: null })).toContain(words);
});

test.each([
  ["a purchase", { event: null, amount: -25 }],
  ["a test", { amount: 0, reason: "test" }],
  ["a duplicate", { amount: 0, reason: "event-already-recorded" }],
  ["an event whose reward is set to zero", { amount: 0, reason: "no-reward" }],
])("%s is not announced", async (_what, entry) => {
  const { tell, said } = fixture();
  await tell(entry);
  expect(said).toEqual([]);
});

test("Russian numbers have the correct plural", async () => {
  const { balance, tooSoon } = choosePhrases("ru-RU");
  expect([1, 3, 5, 21].map(balance)).toEqual([
    "У вас 1 монета.",
    "У вас 3 монеты.",
    "У вас 5 монет.",
    "У вас 21 монета.",
  ]);
  expect([1, 2, 11, 120].map(tooSoon).map((text) => text.slice(-12, -1))).toEqual(
    ["1 секунду", "2 секунды", "11 секунд", "2 минуты"].map((words) => expect.stringContaining(words)),
  );
  expect((await fixture({ language: "ru" }).hear("/bonus"))?.ad?.label).toBe("Смотреть рекламу");
});
