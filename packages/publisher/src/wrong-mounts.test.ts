import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { Bot, type Context } from "grammy";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { adsMiddleware, bonusCommand } from "./grammy.ts";
import { toNodeHandler } from "./node.ts";
import { createAds, webhook } from "./publisher.ts";
import { fakeAdService } from "./testing/fake-ad-service.ts";
import { signWebhook } from "./testing/sign-webhook.ts";

const stops: (() => unknown)[] = [];
let logged: MockInstance<typeof console.error>;
beforeEach(() => {
  logged = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const stop of stops.splice(0)) await stop();
});

async function answerOf(listener: Parameters<typeof createServer>[1]) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, signWebhook({ userId: "42" }, "ad_test"));
  const { error } = (await response.json()) as { error: unknown };
  return { status: response.status, error };
}

test.each([
  ["the handler of events", async () => undefined],
  ["one that answers an object", async () => ({ status: 200 })],
])("toNodeHandler without webhook() says so: %s", async (_what, handler) => {
  const { status, error } = await answerOf(toNodeHandler(handler as never));
  expect(status).toBe(500);
  expect(error).toEqual({
    code: "NOT_CONFIGURED",
    message: expect.stringContaining("toNodeHandler(webhook(handle, { tokens }))"),
  });
  expect(() => toNodeHandler(undefined as never)).toThrow("toNodeHandler needs the handler that webhook() returns");
});

test("toNodeHandler behind a body parser answers what is wrong, and not to send it again", async () => {
  const receive = toNodeHandler(webhook(() => {}, { tokens: "ad_test" }));
  const app = express();
  app.use(express.json());
  app.use((request, response) => receive(request, response));
  const { status, error } = await answerOf(app);
  expect(status).toBe(500);
  expect(error).toEqual({
    code: "NOT_CONFIGURED",
    message: expect.stringContaining("mount the webhook before the parser"),
  });
  expect(String(logged.mock.calls)).toContain("mount the webhook before the parser");
});

/** What the bot sends to Telegram for `/bonus`. */
async function sentFor(use: (bot: Bot<Context>) => void) {
  const sent: Record<string, unknown>[] = [];
  const bot = new Bot("7000000001:secret", {
    botInfo: { id: 7000000001, is_bot: true, first_name: "Coins", username: "coins_bot" } as never,
  });
  bot.api.config.use(async (_previous, _method, payload) => {
    sent.push(payload as Record<string, unknown>);
    return { ok: true, result: true } as never;
  });
  use(bot);
  const from = { id: 42, is_bot: false, first_name: "Ann" };
  const entities = [{ type: "bot_command", offset: 0, length: 6 }];
  const message = { message_id: 1, date: 1, chat: { id: 42, type: "private" }, from, text: "/bonus", entities };
  await bot.handleUpdate({ update_id: 1, message } as never);
  return sent;
}

test("bonusCommand works without its middleware, and names a client that is none", async () => {
  const fake = fakeAdService();
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
  const [offer] = await sentFor((bot) => bot.use(bonusCommand(ads)));
  expect(JSON.stringify(offer?.reply_markup)).toContain("web_app");
  for (const make of [bonusCommand, adsMiddleware])
    expect(() => make(undefined as never)).toThrow("needs the client that createAds({ url, token, botId }) returns");
});
