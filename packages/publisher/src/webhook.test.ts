import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { afterEach, describe, expect, test, vi } from "vitest";
import { toNodeHandler } from "./node.ts";
import type { AdEvent } from "./verify-webhook.ts";
import { webhook } from "./webhook.ts";

const token = "ad_test";
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

let events = 0;
function signed(fields: object = {}, key = token): RequestInit {
  events += 1;
  const event = { event: "rewarded", event_id: `evt_${events}`, user_tg_id: "42", ...fields };
  const body = Buffer.from(JSON.stringify(event));
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = {
    "content-type": "application/json",
    "x-signature": sign(body, key),
    ...signStandardWebhook({ id: event.event_id, timestampSeconds, body, tokens: [key] }),
  };
  return { method: "POST", headers, body };
}

/** A real server, as a bot's backend runs one. */
async function serve(handler: (request: Request) => Promise<Response>): Promise<string> {
  const server = createServer(toNodeHandler(handler));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

describe("over HTTP", () => {
  test("an event is handled once, however often it is sent, and each copy is answered 200", async () => {
    const handled: AdEvent[] = [];
    const url = await serve(webhook((event) => void handled.push(event), { tokens: token }));
    const request = signed({ code: "ABCD", reference: "order 7" });
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url, request)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(handled).toMatchObject([{ userId: "42", code: "ABCD", reference: "order 7" }]);
  });

  test("a handler that fails is answered 500 and called again for the next attempt", async () => {
    const onError = vi.fn();
    const handle = vi.fn().mockRejectedValueOnce(new Error("no database")).mockResolvedValueOnce(undefined);
    const url = await serve(webhook(handle, { tokens: token, onError }));
    const request = signed();
    expect((await fetch(url, request)).status).toBe(500);
    expect((await fetch(url, request)).status).toBe(200);
    expect((await fetch(url, request)).status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(2);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test("a test event pays nothing, and is shown to whoever wants it", async () => {
    const [handle, onTest] = [vi.fn(), vi.fn()];
    const url = await serve(webhook(handle, { tokens: token, onTest }));
    expect((await fetch(url, signed({ user_tg_id: "0", test: true }))).status).toBe(200);
    expect(handle).not.toHaveBeenCalled();
    expect(onTest).toHaveBeenCalledWith(expect.objectContaining({ userId: "0", isTest: true }));
  });

  test("a test for a listed tester pays as an earned event does, once, where the receiver pays testers", async () => {
    const [handle, onTest] = [vi.fn(), vi.fn()];
    const url = await serve(webhook(handle, { tokens: token, onTest, paysTesters: true }));
    const tester = signed({ user_tg_id: "42", test: true, event_id: "evt_tester" });
    for (const request of [tester, tester, signed({ user_tg_id: "0", test: true })]) await fetch(url, request);
    expect(handle.mock.calls).toMatchObject([[{ userId: "42", isTest: true }]]);
    expect(onTest).toHaveBeenCalledTimes(1);
  });

  test("both tokens are accepted while they rotate", async () => {
    const url = await serve(webhook(() => {}, { tokens: ["ad_new", token] }));
    expect((await fetch(url, signed())).status).toBe(200);
    expect((await fetch(url, signed({}, "ad_new"))).status).toBe(200);
  });

  test("tokens belong to bots: an event is accepted only from the tokens of the bot that it names", async () => {
    const [handle, onRefused] = [vi.fn(), vi.fn()];
    const tokens = { 7000000001: "ad_a", 7000000002: ["ad_next_b", "ad_b"] };
    const url = await serve(webhook(handle, { tokens, onRefused }));
    const send = async (botId: string | undefined, key: string) =>
      (await fetch(url, signed({ bot_id: botId }, key))).status;
    expect(await send("7000000001", "ad_a")).toBe(200);
    for (const key of ["ad_next_b", "ad_b"]) expect(await send("7000000002", key)).toBe(200);
    expect(await send(undefined, "ad_b")).toBe(200);
    expect(handle.mock.calls.map(([{ botId }]) => botId)).toEqual([
      "7000000001",
      ...Array.from({ length: 3 }, () => "7000000002"),
    ]);
    expect(await send("7000000002", "ad_a")).toBe(401);
    expect(onRefused).toHaveBeenLastCalledWith(
      expect.stringMatching(/another bot than the event's bot_id: pass each bot's tokens under its own id/),
      { fault: "wrong-signature", cause: "another-bot" },
    );
    for (const botId of ["7000000003", "toString", "__proto__"]) {
      expect(await send(botId, "ad_other")).toBe(401);
      expect(onRefused).toHaveBeenLastCalledWith(expect.stringMatching(/none for the event's bot_id: add/), {
        fault: "wrong-signature",
        cause: "unlisted-bot",
      });
    }
    expect(await send("7000000003", "ad_a")).toBe(401);
    expect(handle).toHaveBeenCalledTimes(4);
  });

  test("a function of the bot's id gives the tokens of that bot only, and a bot without them stops no other", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    stops.push(() => logged.mockRestore());
    const handle = vi.fn();
    const byBot: Record<string, string | undefined> = { 7000000001: "ad_a", 7000000002: undefined };
    for (const tokens of [byBot, (botId = "") => byBot[botId], async () => byBot]) {
      const url = await serve(webhook(handle, { tokens, onRefused: () => {} }));
      const send = async (botId: string, key: string) => (await fetch(url, signed({ bot_id: botId }, key))).status;
      expect(await send("7000000001", "ad_a")).toBe(200);
      expect(await send("7000000001", "ad_b")).toBe(401);
      expect(await send("7000000002", "ad_a")).toBe(500);
    }
    expect(handle).toHaveBeenCalledTimes(3);
  });

  test("a handler that never ends is answered 500 after its time, and no repeat calls it again", async () => {
    const onError = vi.fn();
    let end = () => {};
    const handle = vi.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const url = await serve(webhook(handle, { tokens: token, onError, handlerTimeoutMs: 50 }));
    const request = signed();
    expect((await fetch(url, request)).status).toBe(500);
    expect((await fetch(url, request)).status).toBe(500);
    expect(onError).toHaveBeenCalledTimes(2);
    end();
    expect((await fetch(url, request)).status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test("an onError that throws changes no answer", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    stops.push(() => logged.mockRestore());
    const onError = () => {
      throw new Error("no log");
    };
    const url = await serve(webhook(() => Promise.reject(new Error("no database")), { tokens: token, onError }));
    expect((await fetch(url, signed())).status).toBe(500);
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test.each([null, ""])("events whose id and code are %j are different events", async (nothing) => {
    const users: string[] = [];
    const url = await serve(
      webhook(({ userId }) => void users.push(userId), { tokens: token, isTimestampOptional: true }),
    );
    for (const user of ["1", "2", "3"]) {
      const body = JSON.stringify({
        event: "rewarded",
        event_id: nothing,
        code: nothing,
        reference: null,
        user_tg_id: user,
      });
      const headers = { "x-signature": sign(Buffer.from(body), token) };
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
    }
    expect(users).toEqual(["1", "2", "3"]);
  });

  test.each<[string, number, () => RequestInit]>([
    ["another method", 405, () => ({ method: "GET" })],
    ["no signature", 401, () => ({ method: "POST", body: "{}" })],
    ["another token", 401, () => signed({}, "ad_other")],
    ["no event", 400, () => signed({ event: "something" })],
    ["a body of 65 kB", 413, () => ({ method: "POST", body: "x".repeat(65 * 1024) })],
  ])("%s is answered %d and handles nothing", async (_name, status, request) => {
    const handle = vi.fn();
    const url = await serve(webhook(handle, { tokens: token, onRefused: () => {} }));
    const response = await fetch(url, request());
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
    expect(handle).not.toHaveBeenCalled();
  });

  test("the answer to a genuine webhook names the seconds by which the clock is off", async () => {
    const onRefused = vi.fn();
    for (const [seconds, words] of [
      [600, /sent 60\d s ago by the clock of this machine: check that clock \(NTP\)/],
      [-600, /(599|600) s in the future by the clock of this machine: check that clock \(NTP\)/],
    ] as const) {
      const now = () => new Date(Date.now() + seconds * 1000);
      const url = await serve(webhook(() => {}, { tokens: token, now, onRefused }));
      const response = await fetch(url, signed());
      expect(response.status).toBe(401);
      const fault = seconds > 0 ? "stale" : "future";
      const details = { fault, seconds: expect.closeTo(600, -1) };
      const message = expect.stringMatching(words);
      expect(await response.json()).toEqual({ error: { code: "BAD_SIGNATURE", message, details } });
      expect(onRefused).toHaveBeenLastCalledWith(message, details);
    }
  });

  test("refusals are logged by default, once a minute for each kind, without anything that was sent", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    stops.push(() => warn.mockRestore());
    const url = await serve(webhook(() => {}, { tokens: `${token}\n` }));
    for (let count = 0; count < 50; count++) await fetch(url, signed({ code: "SECRET" }));
    await fetch(url, { method: "POST", body: "{}" });
    const genuine = await serve(webhook(() => {}, { tokens: token }));
    await fetch(genuine, signed({ event: "something" }));
    expect(warn.mock.calls.map(([line]) => String(line))).toEqual([
      expect.stringMatching(/^a webhook was refused: .*without the blanks, line breaks or quotes around it/),
      expect.stringMatching(/^a webhook was refused: X-Signature is missing/),
      expect.stringMatching(/^a webhook was refused: .*not an event of the contract/),
    ]);
    expect(JSON.stringify(warn.mock.calls)).not.toMatch(/SECRET|ad_test|evt_/);
  });

  test("an onRefused that throws changes no answer", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    stops.push(() => logged.mockRestore());
    const onRefused = () => {
      throw new Error("no log");
    };
    const url = await serve(webhook(() => {}, { tokens: token, onRefused }));
    expect((await fetch(url, signed({}, "ad_other"))).status).toBe(401);
    expect(logged).toHaveBeenCalledTimes(1);
  });
});

test("a handler that does not end delays no event of another user", async () => {
  const gate = Promise.withResolvers<void>();
  const handle = vi.fn(({ userId }: AdEvent) => (userId === "1" ? gate.promise : undefined));
  const url = await serve(webhook(handle, { tokens: token }));
  const slow = fetch(url, signed({ user_tg_id: "1" }));
  await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1));
  const others = Array.from({ length: 20 }, (_, user) => fetch(url, signed({ user_tg_id: String(user + 2) })));
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 200));
  gate.resolve();
  expect((await slow).status).toBe(200);
});
