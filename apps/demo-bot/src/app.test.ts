import { generateKeyPairSync } from "node:crypto";
import { request } from "node:http";
import { verifyInitDataWithBotId, verifyInitDataWithBotToken } from "@intermission/ad-core/telegram-init-data";
import { createCompanion } from "@intermission/publisher/companion";
import { createLogger } from "@intermission/server/logger";
import { findFaults } from "@intermission/testing/malformed/find-faults";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createApp } from "./app.ts";
import { Phones } from "./phone/phones.ts";
import { companionFacts } from "./rewards/companion-facts.ts";
import { publisherRewards } from "./rewards/publisher-rewards.ts";
import { createBot } from "./scenario/create-bot.ts";
import { signLaunch } from "./simulated-chat/sign-launch.ts";
import { type ChatMessage, SimulatedChat } from "./simulated-chat/simulated-chat.ts";
import { ViewRecords } from "./timeline/view-records.ts";

const keys = generateKeyPairSync("ed25519");
const telegram = {
  botId: "7000000001",
  botToken: "7000000001:made-up",
  privateKey: keys.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
};
const miniappOrigin = "http://127.0.0.1:8701";
const now = new Date("2026-01-02T03:04:05Z");

const noTasks = { tasks: async () => [] };

let app: FastifyInstance;
let url = "";
let chat: SimulatedChat;
let stopping: AbortController;
let troubles: unknown[];
let written: string[];

beforeEach(async () => {
  // No server listens on port 9: the companion API is down.
  const unreachable = { url: "http://127.0.0.1:9", apiKey: "unused" };
  const companion = createCompanion({ ...unreachable, retries: 0 });
  chat = new SimulatedChat(() => now);
  stopping = new AbortController();
  troubles = [];
  written = [];
  const onTrouble = (error: unknown) => void troubles.push(error);
  const bot = createBot({
    chat,
    rewards: publisherRewards(companion, { ads: noTasks }),
    cooldownSeconds: 15,
    now: () => now,
    onTrouble,
  });
  const facts = companionFacts(companion, unreachable);
  app = createApp({
    chat,
    bot,
    botId: telegram.botId,
    miniappOrigin,
    adServiceUrl: miniappOrigin,
    now: () => now,
    phones: new Phones(),
    views: new ViewRecords(),
    receiver: undefined,
    whatHappened: (userId) => facts(userId).then(() => expect.unreachable("the companion API is down")),
    timelineOf: () => Promise.reject(new Error("the ad service is down")),
    redeliver: () => Promise.reject(new Error("the ad service is down")),
    testEndpoint: () => Promise.reject(new Error("the ad service is down")),
    logger: createLogger({ level: "info", name: "demo-bot", write: (line) => written.push(line) }),
    signLaunch: (launch) => signLaunch(launch, telegram),
    stopping: stopping.signal,
  });
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  stopping.abort();
  await app.close();
});

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

const say = (text: string, id: string) => post("/chat/42/messages", { id, text, language: "en" });
const textsOf = (messages: readonly ChatMessage[]) => messages.map(({ text }) => text);

test("a message is answered; one that is sent twice is processed once", async () => {
  expect((await say("/start", "start")).status).toBe(204);
  expect((await say("/start", "start")).status).toBe(204);
  expect(textsOf(chat.history("42"))).toEqual(["/start", expect.stringContaining("Welcome to Coin Garden!")]);
  expect(chat.history("43")).toEqual([]);
});

test("while the companion API is down, the chat asks to try again later and the panel reports unknown", async () => {
  expect((await say("/bonus", "first")).status).toBe(204);
  expect(textsOf(chat.history("42")).at(-1)).toContain("Please try again in a moment");
  expect(troubles).toHaveLength(1);
  expect(await (await fetch(`${url}/what-happened/42`)).json()).toEqual({ outcome: "unknown" });
});

test("the stream sends the history, then each new message, and ends when the server stops", async () => {
  await chat.send("42", { text: "before" }, "a");
  const response = await fetch(`${url}/chat/42/events?language=ru`);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  // Behind nginx, messages would otherwise wait for its buffer.
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  const read = response.text();
  await chat.send("42", { text: "after" }, "b");
  await chat.send("43", { text: "somebody else's" }, "c");
  expect(chat.languageOf("42")).toBe("ru");
  stopping.abort();
  const events = (await read).match(/^event: .*\ndata: .*$/gm)?.map((event) => event.replace(/\ndata: /, " "));
  expect(events).toEqual([
    expect.stringMatching(/^event: history \[\{"text":"before".*\}\]$/),
    expect.stringMatching(/^event: message \{"text":"after"/),
  ]);
});

test("launch data contain both of Telegram's signatures, the user and the colours", async () => {
  chat.setLanguage("42", "ru-RU");
  const themeParams = { bg_color: "#18221d" };
  const answer = await post("/chat/42/launch", { miniappUrl: `${miniappOrigin}/app/7000000001?code=abc`, themeParams });
  const launch = new URL(z.object({ url: z.url() }).parse(await answer.json()).url);
  expect(`${launch.origin}${launch.pathname}${launch.search}`).toBe(`${miniappOrigin}/app/7000000001?code=abc`);
  const hash = new URLSearchParams(launch.hash.slice(1));
  const initData = hash.get("tgWebAppData") ?? "";
  const valid = { outcome: "valid", user: { id: "42", languageCode: "ru" }, authDate: now };
  expect(
    await verifyInitDataWithBotId({ initData, botId: telegram.botId, publicKey: keys.publicKey, now }),
  ).toMatchObject(valid);
  expect(verifyInitDataWithBotToken({ initData, botToken: telegram.botToken, now })).toMatchObject(valid);
  expect(JSON.parse(hash.get("tgWebAppThemeParams") ?? "")).toEqual(themeParams);
});

test.each([
  ["another site's address", { miniappUrl: "https://evil.example/app/7000000001" }],
  ["an address that only starts like the mini-app's", { miniappUrl: `${miniappOrigin}.evil.example/` }],
  ["an invalid colour", { miniappUrl: `${miniappOrigin}/app/7`, themeParams: { bg_color: "red;}" } }],
])("launch data are not signed for %s", async (_what, launch) => {
  expect((await post("/chat/42/launch", { themeParams: {}, ...launch })).status).toBe(400);
});

test.each(["0", "-1", "1e3", "99999999999999999999", "abc"])("%j is not a user id", async (userId) => {
  expect((await post(`/chat/${userId}/messages`, { id: "a", text: "hi", language: "en" })).status).toBe(400);
  expect((await fetch(`${url}/chat/${userId}/events?language=en`)).status).toBe(400);
});

test("requests from another site's page or with a foreign Host are refused", async () => {
  const body = { id: "a", text: "/buy", language: "en" };
  expect((await post("/chat/42/messages", body, { origin: "https://evil.example" })).status).toBe(403);
  expect((await post("/chat/42/messages", body, { origin: "null" })).status).toBe(403);
  expect(await statusFor("rebound.example")).toBe(403);
  expect(await statusFor("127.0.0.1.evil.example")).toBe(403);
  expect(await statusFor(`localhost:${new URL(url).port}`)).toBe(200);
  expect(chat.history("42")).toEqual([]);
});

/** `fetch` sets the Host header itself. */
function statusFor(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

test("the page may only run its own scripts, only frame the mini-app, and not be framed", async () => {
  const page = await fetch(url);
  expect(page.status).toBe(200);
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    `frame-src ${miniappOrigin} 'self'`,
    "frame-ancestors 'none'",
  ]) {
    expect(policy.split("; ")).toContain(rule);
  }
  expect(await page.text()).not.toMatch(/<script(?![^>]* src=)| style=| on[a-z]+=/);
});

test("1,000 malformed requests cause no 5xx, no hang and no stack trace, and each error has the error body", {
  tags: "long",
  timeout: 120_000,
}, async () => {
  const host = new URL(url).host;
  const headers = { host, origin: url, "content-type": "application/json" };
  const samples = [
    { method: "POST", path: "/chat/42/messages", headers, body: { id: "first", text: "/start", language: "en" } },
    {
      method: "POST",
      path: "/chat/42/launch",
      headers,
      body: { miniappUrl: `${miniappOrigin}/app/1`, themeParams: {} },
    },
    { method: "GET", path: "/chat/42/events?language=en", headers: { host } },
    { method: "GET", path: "/what-happened/42", headers: { host } },
    { method: "GET", path: "/timeline/42", headers: { host } },
    { method: "POST", path: "/timeline/42", headers, body: { kind: "cheat", cheat: "seek" } },
    { method: "PUT", path: "/phone/42/network", headers, body: { network: "fast" } },
    { method: "POST", path: "/phone/42/hidden-report", headers, body: { fromMs: 0, toMs: 1 } },
    { method: "GET", path: "/phone/42/publisher/trpc/rewards.status", headers: { host } },
    { method: "GET", path: "/", headers: { host } },
    { method: "GET", path: "/scripts/page.js", headers: { host, range: "bytes=0-3" } },
    { method: "GET", path: "/healthz", headers: { host } },
  ];
  const options = { address: url, seed: 20, count: 1000, samples, written, formsAt: () => ["json" as const] };
  expect((await findFaults(options)).faults).toEqual([]);
});
