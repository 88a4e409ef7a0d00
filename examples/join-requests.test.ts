import { Bot, type Context } from "grammy";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type JoinRequestsOptions, joinRequests } from "../packages/publisher/src/grammy.ts";
import { createAds, memoryStore, webhook } from "../packages/publisher/src/publisher.ts";
import { fakeAdService } from "../packages/publisher/src/testing.ts";
import { startFakeBotApi } from "./fake-bot-api.ts";

const token = "7000000001:secret";
const ann = "501";

type Options = Partial<JoinRequestsOptions<Context>>;

let telegram: Awaited<ReturnType<typeof startFakeBotApi>>;
let fake: ReturnType<typeof fakeAdService>;
let stop: () => Promise<void>;
beforeEach(async () => {
  telegram = await startFakeBotApi(token);
  fake = fakeAdService();
});
afterEach(async () => {
  await stop?.();
  telegram.stop();
});

/** A bot that lets users into the channel, and its webhook. */
async function start(options: Options = {}) {
  const bot = new Bot(token, { client: { apiRoot: telegram.url } });
  const store = memoryStore();
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch, retries: 0 });
  const errors: unknown[] = [];
  const joins = joinRequests(ads, { api: bot.api, store, onError: (error) => errors.push(error), ...options });
  const others: string[] = [];
  bot.use(joins);
  const handle = webhook(async (event) => void ((await joins.approve(event)) || others.push(event.userId)), {
    tokens: fake.token,
    store,
    onError: (error) => errors.push(error),
  });
  fake.setWebhook(handle);
  const polling = bot.start();
  stop = async () => {
    await bot.stop();
    await polling;
  };
  return { joins, others, errors, ads };
}

/** The mini-app that Telegram opened for the user's request. */
async function openedFor(userId: string): Promise<string> {
  const find = () => telegram.opened.findLast((one) => one.userId === userId)?.url;
  await vi.waitFor(() => expect(find()).toBeDefined());
  return new URL(find() ?? "").searchParams.get("code") ?? "";
}

const expectState = (userId: string, state: string) =>
  vi.waitFor(() => expect(telegram.channel.stateOf(userId)).toBe(state));

describe("a request to join with a query", () => {
  test("opens the mini-app, and the reward approves it once", async () => {
    const { others } = await start();
    telegram.askToJoin(ann);
    const code = await openedFor(ann);
    expect(telegram.channel.stateOf(ann)).toBe("shown");
    expect(await fake.earn(code)).toMatchObject({ outcome: "earned", isDelivered: true });
    expect(telegram.channel.stateOf(ann)).toBe("member");
    expect([telegram.approved, others, telegram.sent]).toEqual([[ann], [], []]);
  });

  test("leaves every other event and every other chat to the bot", async () => {
    const { ads, others } = await start();
    for (const reference of [undefined, "order 7", "join:", "join:everywhere", "join:7"]) {
      const { code } = await ads.createCode({ userId: ann, reference });
      await fake.earn(code);
    }
    expect(others).toHaveLength(5);
    expect(telegram.approved).toEqual([]);
  });

  test.each(["approve", "queue", "decline"] as const)(
    "without an ad is decided as the bot says: %s",
    async (decision) => {
      await start({ withoutAd: decision });
      fake.setAvailability({ available: false, reason: "no-ad" });
      telegram.askToJoin(ann);
      await expectState(ann, { approve: "member", queue: "queued", decline: "declined" }[decision]);
      expect(telegram.opened).toEqual([]);
    },
  );

  test("goes to the administrators while the ad service is away, and says why", async () => {
    const { errors } = await start();
    fake.refuseNext({ status: 503, code: "UNAVAILABLE" });
    telegram.askToJoin(ann);
    await expectState(ann, "queued");
    expect(errors).toEqual([expect.objectContaining({ code: "UNAVAILABLE" })]);
  });

  test("goes to the administrators when its time is over, and a later reward still lets the user in", async () => {
    const { joins } = await start({ waitMs: 1 });
    telegram.askToJoin(ann);
    const code = await openedFor(ann);
    await vi.waitFor(async () => {
      await joins.decideLate();
      expect(telegram.channel.stateOf(ann)).toBe("queued");
    });
    await fake.earn(code);
    expect(telegram.channel.stateOf(ann)).toBe("member");
    expect(telegram.approved).toEqual([ann]);
  });

  test("is not declined as long as its code can earn", async () => {
    const { joins } = await start({ waitMs: 1, unwatched: "decline" });
    telegram.askToJoin(ann);
    const code = await openedFor(ann);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await joins.decideLate();
    expect(telegram.channel.stateOf(ann)).toBe("shown");
    await fake.earn(code);
    expect(telegram.approved).toEqual([ann]);
  });

  test("whose reward comes while Telegram is away is approved when it is back", async () => {
    const { errors } = await start();
    telegram.askToJoin(ann);
    const code = await openedFor(ann);
    telegram.failNext("answerChatJoinRequestQuery", { status: 502, description: "Bad Gateway" });
    expect(await fake.earn(code)).toMatchObject({ isDelivered: false });
    expect(errors).toHaveLength(1);
    await fake.sendWaiting();
    expect(telegram.approved).toEqual([ann]);
  });

  test("is not given up when the bot has lost the right to invite: the reward waits until it is back", async () => {
    await start();
    telegram.askToJoin(ann);
    const code = await openedFor(ann);
    telegram.failNext("answerChatJoinRequestQuery", { status: 400, description: "Bad Request: not enough rights" });
    telegram.failNext("approveChatJoinRequest", { status: 400, description: "Bad Request: not enough rights" });
    expect(await fake.earn(code)).toMatchObject({ isDelivered: false });
    await fake.sendWaiting();
    expect(telegram.approved).toEqual([ann]);
  });

  test("that an administrator decided meanwhile counts as done", async () => {
    const { errors } = await start();
    telegram.askToJoin(ann);
    const code = await openedFor(ann);
    telegram.channel.decide(telegram.channel.chat.id, ann, "approve");
    expect(await fake.earn(code)).toMatchObject({ isDelivered: true });
    expect([telegram.approved, errors]).toEqual([[], []]);
  });

  test("that Telegram opens no mini-app for is decided as the bot says", async () => {
    await start({ unopened: "approve" });
    telegram.failNext("sendChatJoinRequestWebApp", { status: 400, description: "Bad Request: no" });
    telegram.askToJoin(ann);
    await expectState(ann, "member");
  });

  test("whose update arrives again leaves the mini-app open", async () => {
    await start();
    telegram.askToJoin(ann);
    const code = await openedFor(ann);
    telegram.repeatUpdate();
    telegram.askToJoin("502");
    await openedFor("502");
    expect(telegram.channel.stateOf(ann)).toBe("shown");
    await fake.earn(code);
    expect(telegram.approved).toEqual([ann]);
  });

  test("that is made again is answered by its own query", async () => {
    await start();
    telegram.askToJoin(ann);
    const first = await openedFor(ann);
    telegram.opened.length = 0;
    telegram.askToJoin(ann);
    expect(await openedFor(ann)).toBe(first);
    await fake.earn(first);
    expect(telegram.approved).toEqual([ann]);
  });
});

describe("a request to join without a query", () => {
  test("gets a button in the user's language, and the reward approves it", async () => {
    await start();
    telegram.askToJoin(ann, { hasQuery: false, language: "de" });
    await vi.waitFor(() => expect(telegram.sent).toHaveLength(1));
    const [message] = telegram.sent;
    expect(message).toMatchObject({
      chat_id: ann,
      text: expect.stringMatching(/^Du möchtest „Secret Garden“ beitreten/),
    });
    const button = message?.reply_markup?.inline_keyboard[0]?.[0];
    expect(button?.text).toBe("▶️ Ansehen und beitreten");
    const code = new URL(button?.web_app?.url ?? "").searchParams.get("code") ?? "";
    await fake.earn(code);
    expect(telegram.approved).toEqual([ann]);
  });

  test("of a user whom the bot cannot write to is left to the administrators, or decided as the bot says", async () => {
    const blocked = { status: 403, description: "Forbidden: bot was blocked by the user" };
    await start({ unopened: "decline" });
    telegram.failNext("sendMessage", blocked);
    telegram.askToJoin(ann, { hasQuery: false });
    await expectState(ann, "declined");
  });
});

test("a store that remembers no requests, and a missing api, are refused at once", () => {
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
  const { api } = new Bot(token);
  const once = async () => {};
  expect(() => joinRequests(ads, { api, store: { once } })).toThrow(/store that remembers requests.*fileStore/);
  expect(() => joinRequests(ads, { store: memoryStore() } as never)).toThrow("api: bot.api");
  expect(() => joinRequests({} as never, { api, store: memoryStore() })).toThrow("createAds");
});
