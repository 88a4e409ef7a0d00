import { afterEach, beforeEach, expect, test } from "vitest";
import { openOwnBot } from "../../test/fixtures/own-bot-fixture.ts";
import { eventList } from "../webhooks/event-list.ts";

let fixture: Awaited<ReturnType<typeof openOwnBot>>;
let now: Date;
let { url, chat, fake, ads, botToken, miniappOrigin, say, press, lastMessage } = {} as typeof fixture;

beforeEach(async () => {
  now = new Date("2026-01-02T03:04:05Z");
  fixture = await openOwnBot(() => now);
  ({ url, chat, fake, ads, botToken, miniappOrigin, say, press, lastMessage } = fixture);
});
afterEach(() => fixture.close());

interface BotApiAnswer {
  readonly ok: boolean;
  readonly description?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a method's result
  readonly result?: any;
}

async function call(method: string, body?: object | FormData, token = fixture.botToken): Promise<BotApiAnswer> {
  const response = await fetch(`${url}/bot${token}/${method}`, {
    method: body ? "POST" : "GET",
    ...(body && {
      body: body instanceof FormData ? body : JSON.stringify(body),
      headers: body instanceof FormData ? {} : { "content-type": "application/json" },
    }),
  });
  return (await response.json()) as BotApiAnswer;
}

test("a program that polls gets the user's messages, confirms them, and answers with buttons", async () => {
  expect((await call("getMe")).result).toMatchObject({ id: 7_000_000_001, is_bot: true, first_name: "My bot" });
  await call("getUpdates");
  const polling = call("getUpdates", { offset: 0, timeout: 30 });
  await say("/bonus now", "one");
  const [update] = (await polling).result;
  expect(update.message).toMatchObject({
    chat: { id: 42, type: "private" },
    from: { id: 42, language_code: "ru" },
    text: "/bonus now",
    entities: [{ type: "bot_command", offset: 0, length: 6 }],
  });
  const keyboard = [
    [{ text: "Watch", web_app: { url: `${miniappOrigin}/app/7000000001?code=c` } }],
    [
      { text: "Rules", url: "https://example.com/rules" },
      { text: "More", callback_data: "more" },
    ],
  ];
  const sent = await call("sendMessage", { chat_id: 42, text: "An ad:", reply_markup: { inline_keyboard: keyboard } });
  expect(sent).toMatchObject({ ok: true, result: { chat: { id: 42 }, text: "An ad:" } });
  expect(lastMessage()).toMatchObject({
    from: "bot",
    text: "An ad:",
    buttons: [
      { label: "Watch", miniappUrl: `${miniappOrigin}/app/7000000001?code=c` },
      { label: "Rules", url: "https://example.com/rules" },
      { label: "More", data: "more" },
    ],
  });
  expect((await call(`getUpdates?offset=${update.update_id + 1}`)).result).toEqual([]);
});

test("updates and messages have Telegram's fields in its order: GramIO reads an update by its second one", async () => {
  const read = async (method: string, body?: object) => {
    const response = await fetch(`${url}/bot${botToken}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body ?? {}),
    });
    return response.text();
  };
  await call("getUpdates");
  const polling = read("getUpdates", { timeout: 30 });
  await say("/bonus", "first");
  expect(await polling).toMatch(/^\{"ok":true,"result":\[\{"update_id":1,"message":\{"message_id":1,"from":\{"id":42,/);
  const keyboard = [[{ text: "More", callback_data: "more" }]];
  const sent = JSON.parse(
    await read("sendMessage", { chat_id: 42, text: "Hi", reply_markup: { inline_keyboard: keyboard } }),
  );
  expect(Object.keys(sent.result)).toEqual(["message_id", "from", "chat", "date", "text", "reply_markup"]);
  expect(sent.result.from).toEqual(
    (({ id, is_bot, first_name, username }) => ({ id, is_bot, first_name, username }))((await call("getMe")).result),
  );
  const pressing = press("more", "p");
  const [pressed] = (await call("getUpdates", { offset: 2, timeout: 30 })).result;
  expect(Object.keys(pressed)).toEqual(["update_id", "callback_query"]);
  expect(Object.keys(pressed.callback_query)).toEqual(["id", "from", "message", "chat_instance", "data"]);
  expect(pressed.callback_query.message).toEqual(sent.result);
  await pressing;
});

test("a poll takes as many updates as it asks for, counts a negative offset from the end, and methods have no case", async () => {
  await call("GETUPDATES");
  const saying = ["one", "two", "three"].map((text) => say(text, text));
  const texts = async (fields: object) =>
    (await call("getupdates", fields)).result.map(({ message }: { message: { text: string } }) => message.text);
  await expect.poll(() => texts({ limit: 2 })).toHaveLength(2);
  await expect.poll(() => texts({})).toHaveLength(3);
  expect(await texts({ offset: -1 })).toHaveLength(1);
  expect(await texts({})).toHaveLength(1);
  await Promise.all(saying);
});

test("a form is read as JSON is, and a tapped button reaches the program as a callback", async () => {
  const form = new FormData();
  form.set("chat_id", "42");
  form.set("text", "Choose");
  form.set("reply_markup", JSON.stringify({ keyboard: [["Yes", { text: "No" }]] }));
  expect((await call("sendMessage", form)).ok).toBe(true);
  expect(lastMessage()?.suggestions).toEqual([
    { label: "Yes", command: "Yes", row: 0 },
    { label: "No", command: "No", row: 0 },
  ]);
  await call("getUpdates");
  const pressing = press("more", "p");
  const [update] = (await call("getUpdates", { timeout: 30 })).result;
  expect((await pressing).status).toBe(204);
  expect(update.callback_query).toMatchObject({ id: "p", data: "more", from: { id: 42 } });
  expect(await call("answerCallbackQuery", { callback_query_id: "p" })).toEqual({ ok: true, result: true });
});

test("a web_app button of a reply keyboard opens the mini-app without launch data, as in Telegram", async () => {
  const miniappUrl = `${miniappOrigin}/app/7000000001?code=c`;
  const keyboard = [[{ text: "Watch", web_app: { url: miniappUrl } }, "No"]];
  const sent = await call("sendMessage", { chat_id: 42, text: "An ad:", reply_markup: { keyboard } });
  expect(sent.ok).toBe(true);
  expect(lastMessage()?.suggestions).toEqual([
    { label: "Watch", miniappUrl, row: 0 },
    { label: "No", command: "No", row: 0 },
  ]);
  const launchOf = async (more: object) => {
    const launching = await fetch(`${url}/chat/42/launch`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ miniappUrl, themeParams: {}, ...more }),
    });
    const { url: opened } = (await launching.json()) as { url: string };
    return new URLSearchParams(new URL(opened).hash.slice(1));
  };
  const launch = await launchOf({ isReplyKeyboard: true });
  expect([launch.has("tgWebAppData"), launch.has("tgWebAppVersion")]).toEqual([false, true]);
  expect((await launchOf({})).get("tgWebAppData")).toContain("user=");
});

test.each<[string, string, object | undefined, string]>([
  ["another token", "getMe", undefined, "Unauthorized"],
  ["a method that the chat does not have", "sendVideo", {}, "no method sendVideo"],
  ["a name of Object's", "constructor", {}, "no method constructor"],
  ["a message without text", "sendMessage", { chat_id: 42 }, "text"],
  [
    "a mini-app elsewhere",
    "sendMessage",
    {
      chat_id: 42,
      text: "x",
      reply_markup: { inline_keyboard: [[{ text: "x", web_app: { url: "https://a.example" } }]] },
    },
    "opens only the mini-app of the ad service",
  ],
  [
    "a mini-app elsewhere in a reply keyboard",
    "sendMessage",
    { chat_id: 42, text: "x", reply_markup: { keyboard: [[{ text: "x", web_app: { url: "https://a.example" } }]] } },
    "opens only the mini-app of the ad service",
  ],
])("%s is refused, and the reason is told", async (_what, method, body, words) => {
  const token = words === "Unauthorized" ? "7000000001:another" : botToken;
  const answer = await call(method, body, token);
  expect(answer.ok).toBe(false);
  expect(answer.description).toContain(words);
  expect(chat.history("42")).toEqual([]);
});

test("without a program the chat offers the bot's ads, and what they earned is listed", async () => {
  await say("/start", "first");
  expect(lastMessage()?.text).toContain(`TELEGRAM_BOT_TOKEN to ${botToken}`);
  await say("/bonus", "second");
  const [watch, link] = lastMessage()?.buttons ?? [];
  expect(watch).toMatchObject({ label: "Watch an ad", miniappUrl: expect.stringContaining("?code=") });
  expect(link).toMatchObject({ label: "Direct link" });
  const code = new URL((watch as { miniappUrl: string }).miniappUrl).searchParams.get("code") ?? "";
  await fake.earn(code);
  const [latest] = await eventList(ads)();
  expect(latest).toMatchObject({ event: "rewarded", rawBody: null, fields: { user_tg_id: "42", code } });
  fake.refuseNext({ status: 403, code: "BOT_SUSPENDED" });
  await say("/bonus", "third");
  expect(lastMessage()?.text).toContain("BOT_SUSPENDED");
});

test("messages wait for a program that restarts, and the chat answers when none comes", async () => {
  await call("getUpdates");
  const saying = say("/bonus", "waiting");
  await expect.poll(() => chat.history("42").length).toBe(1);
  expect((await call("getUpdates")).result).toHaveLength(1);
  await saying;
  expect(chat.history("42")).toHaveLength(1);

  await say("/bonus", "given-up");
  expect(lastMessage()).toMatchObject({ from: "bot", text: expect.stringContaining("with a new code") });
  now = new Date(now.getTime() + 6000);
  expect((await call("getUpdates?offset=2")).result).toEqual([]);
  now = new Date(now.getTime() + 6000);
  await say("/start", "at-once");
  expect(lastMessage()?.text).toContain("stands in for it");
});
