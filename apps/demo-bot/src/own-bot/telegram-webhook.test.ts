import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createAds } from "@intermission/publisher";
import { fakeAdService } from "@intermission/publisher/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { SimulatedChat } from "../simulated-chat/simulated-chat.ts";
import type { BotApiFields } from "./bot-api-call.ts";
import { findBotApiMethod } from "./bot-api-methods.ts";
import { OwnBot } from "./own-bot.ts";
import { isLoopbackAddress } from "./telegram-webhook.ts";

const miniappOrigin = "http://127.0.0.1:8701";
const fake = fakeAdService();
const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
const now = () => new Date("2026-01-02T03:04:05Z");

let chat: SimulatedChat;
let bot: OwnBot;
let program: Server;
let url: string;
let received: { headers: IncomingHttpHeaders; body: { message: { text: string }; update_id: number } }[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  received = [];
  answer = (response) => response.end();
  chat = new SimulatedChat(now);
  bot = openBot({ restartMs: 700 });
  program = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: JSON.parse(await text(request)) });
    answer(response);
  });
  await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${z.object({ port: z.int() }).parse(program.address()).port}/telegram`;
});
afterEach(() => {
  program.closeAllConnections();
  program.close();
});

function openBot({ restartMs }: { restartMs: number }): OwnBot {
  const identity = { botId: "7000000001", botName: "My bot", botToken: "7000000001:simulated" };
  return new OwnBot({ ...identity, chat, ads, miniappOrigin, now, restartMs });
}

function call(method: string, fields: BotApiFields = {}): Promise<unknown> {
  const run = findBotApiMethod(method);
  if (!run) throw new Error(`there is no ${method}`);
  return Promise.resolve().then(() => run({ bot, fields, signal: AbortSignal.timeout(30_000) }));
}

const hear = (words: string) => bot.hear({ id: words, userId: "42", text: words });
const lastText = () => chat.history("42").at(-1)?.text;

test("a webhook gets the user's messages with its secret token, in order, and polling is refused", async () => {
  await call("setWebhook", { url, secret_token: "s3cret", allowed_updates: "[]" });
  await Promise.all([hear("/start"), hear("hello")]);
  expect(received.map(({ body }) => body.message.text)).toEqual(["/start", "hello"]);
  expect(received.map(({ headers }) => headers["x-telegram-bot-api-secret-token"])).toEqual(["s3cret", "s3cret"]);
  expect(chat.history("42")).toEqual([]);
  expect(await call("getWebhookInfo")).toEqual({ url, has_custom_certificate: false, pending_update_count: 0 });
  await expect(call("getUpdates")).rejects.toMatchObject({ status: 409 });
  await call("deleteWebhook");
  expect(await call("getWebhookInfo")).toMatchObject({ url: "" });
  expect(await call("getUpdates")).toEqual([]);
});

test("an answer may contain the method to call", async () => {
  const reply = { method: "sendMessage", chat_id: 42, text: "hi", reply_markup: { keyboard: [["A"], ["B"]] } };
  answer = (response) => response.end(JSON.stringify(reply));
  await call("setWebhook", { url });
  await hear("/start");
  expect(chat.history("42").at(-1)).toMatchObject({
    text: "hi",
    suggestions: [
      { label: "A", row: 0 },
      { label: "B", row: 1 },
    ],
  });
});

test("an update is sent again to a program that restarts; the chat answers if it stays away", async () => {
  bot = openBot({ restartMs: 30_000 });
  await call("setWebhook", { url });
  answer = (response) => response.writeHead(received.length === 1 ? 500 : 200).end();
  await hear("/start");
  expect(received).toHaveLength(2);
  expect(new Set(received.map(({ body }) => body.update_id)).size).toBe(1);
  expect(chat.history("42")).toEqual([]);
  bot = openBot({ restartMs: 700 });
  await call("setWebhook", { url });
  answer = (response) => response.writeHead(302, { location: url }).end();
  await hear("/bonus");
  expect(lastText()).toContain("with a new code");
  expect(await call("getWebhookInfo")).toMatchObject({ last_error_message: expect.stringContaining("302") });
});

test.each([
  "https://example.com/hook",
  "http://10.0.0.1/",
  "http://127.0.0.1.example.com/",
  "http://user:pass@127.0.0.1/",
  "ftp://127.0.0.1/",
  "http://[::ffff:10.0.0.1]/",
  "nonsense",
])("updates are not sent to %s", async (address) => {
  await expect(call("setWebhook", { url: address })).rejects.toThrow("address of this machine");
  expect(await call("getWebhookInfo")).toMatchObject({ url: "" });
});

test("every spelling of this machine is accepted", () => {
  for (const host of ["127.0.0.1:3000", "localhost", "[::1]:80", "127.1", "2130706433"])
    expect(isLoopbackAddress(`http://${host}/x`)).toBe(true);
});

test("a keyboard can be removed, go after one tap, and name what to write; requests for data are refused", async () => {
  const send = (markup: object) =>
    call("sendMessage", { chat_id: "42", text: "x", reply_markup: JSON.stringify(markup) });
  await send({ keyboard: [["Yes"]], one_time_keyboard: true, input_field_placeholder: "Yes or no" });
  expect(chat.history("42").at(-1)).toMatchObject({ isOneTime: true, placeholder: "Yes or no" });
  await send({ remove_keyboard: true });
  expect(chat.history("42").at(-1)).toMatchObject({ suggestions: [] });
  await expect(send({ keyboard: [[{ text: "Phone", request_contact: true }]] })).rejects.toThrow("request_contact");
});
