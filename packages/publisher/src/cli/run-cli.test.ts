import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createAds } from "../create-ads.ts";
import { toNodeHandler } from "../node.ts";
import { fakeAdService } from "../testing/fake-ad-service.ts";
import type { FakeAdServiceOptions } from "../testing/fake-interface.ts";
import { type WebhookOptions, webhook } from "../webhook.ts";
import { runCli } from "./run-cli.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function startFake(options: FakeAdServiceOptions = {}) {
  const fake = fakeAdService(options);
  stops.push(() => fake.close());
  const url = await fake.listen();
  return { fake, env: { AD_SERVICE_URL: url, AD_API_TOKEN: fake.token, TELEGRAM_BOT_TOKEN: `${fake.botId}:x` } };
}

async function serve(handler: (request: Request) => Promise<Response>): Promise<string> {
  const server = createServer(toNodeHandler(handler));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

/** Runs a command; `output` grows while it runs. */
function start(words: string[], env: Record<string, string>) {
  const abort = new AbortController();
  const output: string[] = [];
  const write = (line: string) => void output.push(line);
  const code = runCli(words, { env, write, writeError: write, signal: abort.signal, pollMs: 10 });
  return { output, code, stop: () => abort.abort() };
}

test("each secret may be in a file; one that cannot be read is named, with what to do, and shows no secret", async () => {
  const { fake, env } = await startFake();
  const folder = mkdtempSync(join(tmpdir(), "intermission-secrets-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = {
    AD_SERVICE_URL: env.AD_SERVICE_URL,
    AD_API_TOKEN_FILE: fileOf("token", `${fake.token}\n`),
    TELEGRAM_BOT_TOKEN_FILE: fileOf("bot", `${fake.botId}:hush\n`),
  };
  const shown = start(["stats"], files);
  expect(await shown.code).toBe(0);
  for (const [changes, words] of [
    [{ AD_API_TOKEN_FILE: join(folder, "none") }, /AD_API_TOKEN_FILE names .*none, which cannot be read \(ENOENT\)/],
    [{ AD_API_TOKEN_FILE: folder }, /AD_API_TOKEN_FILE must name a file/],
    [{ AD_API_TOKEN: "ad_hush" }, /AD_API_TOKEN_FILE and AD_API_TOKEN are both set/],
    [{ TELEGRAM_BOT_TOKEN_FILE: fileOf("empty", "\n") }, /TELEGRAM_BOT_TOKEN_FILE names .*empty, which is empty/],
  ] as const) {
    const refused = start(["stats"], { ...files, ...changes });
    expect(await refused.code).toBe(2);
    expect(refused.output.join("\n")).toMatch(words);
    expect(refused.output.join("\n")).not.toMatch(/hush/);
  }
});

describe("listen", () => {
  test("says once that the pages of a service do not advance, and reads no endless answer of a receiver", async () => {
    const { env } = await startFake();
    let requests = 0;
    const stuck = createServer((_request, response) => {
      requests += 1;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ events: [], next: "cur_1", has_more: true }));
    });
    await new Promise<void>((resolve) => stuck.listen(0, "127.0.0.1", resolve));
    stops.push(() => stuck.close());
    const url = `http://127.0.0.1:${(stuck.address() as AddressInfo).port}`;
    const listening = start(["listen"], { ...env, AD_SERVICE_URL: url });
    // Each round reads one page, not the same one again and again.
    await vi.waitFor(() => expect(requests).toBeGreaterThan(4), { timeout: 20_000 });
    expect(listening.output.filter((line) => line.includes("UNEXPECTED_ANSWER"))).toHaveLength(1);
    listening.stop();
    expect(await listening.code).toBe(0);

    const endless = createServer((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, "x");
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", write);
      write();
    });
    await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
    stops.push(() => endless.close());
    const forward = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
    const tests = start(["listen", "--forward", forward, "--send-test"], env);
    await vi.waitFor(() => expect(tests.output[1]).toBe("a test event made here → 200"));
    tests.stop();
    expect(await tests.code).toBe(0);
  });

  test("shows events and forwards test events, signed; earned ones only with --all", async () => {
    const revenue = { rewarded: 1750, currency: "EUR" };
    const { fake, env } = await startFake({ webhook: async () => new Response(), revenue });
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
    const { code } = await ads.createCode({ userId: "42", reference: "order 7" });
    await fake.earn(code, "direct_link");
    const [handle, onTest] = [vi.fn(), vi.fn()];
    const forward = await serve(webhook(handle, { tokens: fake.token, onTest }));

    const tests = start(["listen", "--forward", forward, "--send-test"], env);
    await vi.waitFor(() => expect(tests.output[1]).toBe("a test event made here → 200"));
    const { eventId } = await ads.testWebhook();
    await fake.earn(code);
    await vi.waitFor(() => expect(tests.output).toHaveLength(4));
    tests.stop();
    expect(await tests.code).toBe(0);
    expect(tests.output[2]).toMatch(new RegExp(`rewarded {2}test {2}user 0 {2}${eventId} {2}→ 200$`));
    expect(tests.output[3]).toMatch(
      /rewarded {2}earned {2}user 42 {2}code \w+ {2}reference "order 7" {2}worth 0.00175 EUR .* not forwarded/,
    );
    expect(onTest).toHaveBeenLastCalledWith(expect.objectContaining({ eventId, isTest: true }));
    expect(handle).not.toHaveBeenCalled();

    const all = start(["listen", "--forward", forward, "--all"], env);
    await vi.waitFor(() => expect(all.output).toHaveLength(1));
    await fake.earn((await ads.createCode({ userId: "43" })).code);
    const forwarded = expect.objectContaining({ userId: "43", revenueMicros: 1750, currency: "EUR" });
    await vi.waitFor(() => expect(handle).toHaveBeenCalledWith(forwarded));
    const events = (await ads.events()).events.map(({ event, revenueMicros }) => [event, revenueMicros]);
    expect(events).toContainEqual(["direct_link", 0]);
    expect((await ads.stats()).total.revenue_micros).toBe(2 * 1750);
    all.stop();
    expect(await all.code).toBe(0);
  });

  test("goes on after an interruption, shows what the receiver answers, and ends when the token is refused", async () => {
    const { fake, env } = await startFake({ webhook: async () => new Response() });
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
    const forward = await serve(async () => new Response("no such route", { status: 404 }));
    const listening = start(["listen", "--forward", forward], env);
    await vi.waitFor(() => expect(listening.output).toHaveLength(1));
    fake.refuseNext({ status: 500, code: "INTERNAL" });
    await vi.waitFor(() => expect(listening.output.at(-1)).toBe("The ad service answers again."));
    await ads.testWebhook();
    await vi.waitFor(() => expect(listening.output.at(-1)).toMatch(/→ 404 no such route$/));
    fake.refuseNext({ status: 401, code: "UNAUTHORIZED" });
    expect(await listening.code).toBe(1);
    expect(listening.output.at(-1)).toContain("UNAUTHORIZED");
  });
});

const receiverOf = (options: Partial<WebhookOptions>) =>
  webhook(() => {}, { tokens: "ad_test", onRefused: () => {}, ...options });

describe("doctor", () => {
  const examine = async (env: Record<string, string>) => {
    const { output, code } = start(["doctor"], env);
    await code;
    return { code: await code, report: output.join("\n") };
  };

  test("finds nothing wrong where all works, except that the fake serves no mini-app", async () => {
    const { env } = await startFake({ webhook: webhook(() => {}, { tokens: "ad_test" }) });
    const { code, report } = await examine(env);
    expect(report.split("\n").map((line) => line.split(":")[0])).toEqual([
      "✓ ad service",
      "✓ clock",
      "✓ token",
      "✓ bot",
      "✓ webhook",
      "✗ mini-app",
      expect.stringContaining("npm run build"),
    ]);
    expect(code).toBe(1);
  });

  test("takes the bot's id from its token where BOT_ID is empty, as a line of an env file without a value", async () => {
    const { env } = await startFake();
    const { report } = await examine({ ...env, BOT_ID: "" });
    expect(report).toMatch(/✓ bot: \d+ gets codes/);
  });

  test("refuses settings of two bots, whichever of them the token is for", async () => {
    const { env } = await startFake();
    const { code, report } = await examine({ ...env, BOT_ID: "42" });
    expect([code, report]).toEqual([
      2,
      expect.stringMatching(/BOT_ID is 42, and TELEGRAM_BOT_TOKEN is that of bot \d+/),
    ]);
  });

  test.each<[string, RegExp, Record<string, string>]>([
    [
      "an address where nothing listens",
      /✗ ad service: .*\n.*whether the ad service runs/,
      { AD_SERVICE_URL: "http://127.0.0.1:9" },
    ],
    ["an unknown token", /✗ token: .*UNAUTHORIZED.*\n.*tokens create/, { AD_API_TOKEN: "ad_revoked" }],
    ["another bot's id", /✗ bot: .*FORBIDDEN.*\n.*another bot/, { BOT_ID: "42", TELEGRAM_BOT_TOKEN: "" }],
  ])("explains %s", async (_name, expected, change) => {
    const { env } = await startFake();
    const { code, report } = await examine({ ...env, ...change });
    expect(report).toMatch(expected);
    expect(code).toBe(1);
  });

  test.each<[string, FakeAdServiceOptions, RegExp]>([
    ["no webhook", {}, /✗ webhook: .*NO_ENDPOINT.*\n.*--webhook-url/],
    [
      "another token",
      { webhook: receiverOf({ tokens: "ad_other" }) },
      /✗ webhook: .* 401 \(wrong-signature\)\n.*the receiver has another token/,
    ],
    [
      "a token with a line break behind it",
      { webhook: receiverOf({ tokens: "ad_test\n" }) },
      /✗ webhook: .* 401 \(wrong-signature\)\n.*blanks, line breaks or quotes/,
    ],
    [
      "a receiver whose clock is ten minutes ahead",
      { webhook: receiverOf({ now: () => new Date(Date.now() + 600_000) }) },
      /✗ webhook: .* 401 \(stale\)\n.* 60\d s ago by the clock of the receiver's machine: check that clock \(NTP\)/,
    ],
    [
      "a receiver whose clock is ten minutes behind",
      { webhook: receiverOf({ now: () => new Date(Date.now() - 600_000) }) },
      /✗ webhook: .* 401 \(future\)\n.* (599|600) s in the future by the clock of the receiver's machine/,
    ],
    [
      "a receiver that parses the body first",
      {
        webhook: async (request) => {
          const body = JSON.stringify(await request.json(), undefined, 1);
          return receiverOf({})(new Request(request.url, { method: "POST", headers: request.headers, body }));
        },
      },
      /✗ webhook: .* 401 \(wrong-signature\)\n.*Verify the raw bytes/,
    ],
    [
      "a receiver that says nothing",
      { webhook: async () => new Response("no", { status: 401 }) },
      /✗ webhook: .* 401.*\n.*this API token.*raw bytes.*clock/,
    ],
    [
      "a catch-all route, which answers 200 with a page",
      { webhook: async () => new Response("<!doctype html><title>Shop</title>") },
      /! webhook: .* 200.*\n.*web page.*wrong signature/,
    ],
    [
      "a receiver that says no with 200",
      {
        webhook: async (request) =>
          (await receiverOf({})(request)).ok ? Response.json({ ok: false }) : new Response("", { status: 401 }),
      },
      /! webhook: .* 200.*\n.*its words say that it failed/,
    ],
    [
      "a receiver that verifies nothing",
      { webhook: async () => new Response(null, { status: 204 }) },
      /! webhook: .* 204.*\n.*wrong signature/,
    ],
    [
      "a receiver without its token",
      {
        webhook: async () =>
          Response.json(
            { error: { code: "NOT_CONFIGURED", message: "tokens (AD_API_TOKEN) is missing" } },
            { status: 500 },
          ),
      },
      /✗ webhook: .* 500.*\n.*NOT_CONFIGURED: .*not set up/,
    ],
    ["a wrong path", { webhook: async () => new Response("", { status: 404 }) }, /✗ webhook: .* 404.*\n.*your route/],
    ["a failing receiver", { webhook: async () => new Response("", { status: 500 }) }, /✗ webhook: .* 500.*\n.*log/],
  ])("explains %s", async (_name, options, expected) => {
    const { env } = await startFake(options);
    expect((await examine(env)).report).toMatch(expected);
  });

  test("does not test the webhook of another bot, whose token it has", async () => {
    const receive = vi.fn(async () => new Response());
    const { env } = await startFake({ webhook: receive });
    const { code, report } = await examine({ ...env, BOT_ID: "42", TELEGRAM_BOT_TOKEN: "" });
    expect(report).toMatch(/\n- webhook: not tested, because no code was created for this bot$/);
    expect([code, receive.mock.calls.length]).toEqual([1, 0]);
  });

  test("shows one line of what a receiver answers", async () => {
    const page = ["Traceback (most recent call last):", ...Array(50).fill("  at line")].join("\n");
    const { env } = await startFake({ webhook: async () => new Response(page, { status: 500 }) });
    const { report } = await examine(env);
    expect(report).toContain("✗ webhook: the test event got 500: Traceback (most recent call last):\n    The receiver");
    expect(report).not.toContain("at line");
  });

  test("takes an address with /client/v1, which is left out", async () => {
    const { env } = await startFake({ webhook: receiverOf({}) });
    const { report } = await examine({ ...env, AD_SERVICE_URL: `${env.AD_SERVICE_URL}/client/v1/` });
    expect(report).toContain(`✓ ad service: ${env.AD_SERVICE_URL} answers`);
    expect(report).toContain("✓ webhook");
  });

  test("waits for a receiver as long as the ad service does", { tags: "long", timeout: 30_000 }, async () => {
    let status = 200;
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, status === 200 ? 11_000 : 0));
      const answer = new Response(null, { status });
      status = 401;
      return answer;
    };
    const { env } = await startFake({ webhook: slow });
    expect((await examine(env)).report).toContain("✓ webhook: the test event was answered 200");
  });

  test("explains a wrong clock", async () => {
    const answer = new Response(null, { status: 401, headers: { date: "Sun, 06 Nov 1994 08:49:37 GMT" } });
    const url = new URL(await serve(async () => answer)).origin;
    const { report } = await examine({ AD_SERVICE_URL: url, AD_API_TOKEN: "ad_test", BOT_ID: "42" });
    expect(report).toMatch(/✗ clock: \d+ s ahead of the ad service's\n.*NTP/);
  });
});

describe("what the publisher's own token shows", () => {
  const run = async (words: string[], env: Record<string, string>) => {
    const { code: ended, output } = start(words, env);
    const code = await ended;
    return { code, report: output.join("\n") };
  };

  test("deliveries shows each attempt, its answer and what to check", async () => {
    const { fake, env } = await startFake({ webhook: async () => new Response("no such route", { status: 404 }) });
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
    const earned = await fake.earn((await ads.createCode({ userId: "42" })).code);
    const eventId = earned.outcome === "earned" ? earned.eventId : "";
    for (const words of [["deliveries"], ["deliveries", eventId]]) {
      const { code, report } = await run(words, env);
      expect(report).toMatch(new RegExp(`${eventId} .*\\n  1\\. .* → 404 in \\d+ ms: no such route\\n.*your route`));
      expect(code).toBe(0);
    }
    expect(await run(["deliveries", "evt_none"], env)).toMatchObject({
      code: 1,
      report: expect.stringMatching(/no such event.*deliveries without an id/),
    });
  });

  test("trigger sends a tester's code through the webhook, and the code earns nothing", async () => {
    const pay = vi.fn();
    const receive = webhook(pay, { tokens: "ad_test", paysTesters: true });
    const { fake, env } = await startFake({ webhook: receive, testers: ["42"] });
    const { code, report } = await run(["trigger", "--user", "42"], env);
    expect([code, report]).toEqual([0, expect.stringMatching(/user 42 .*reference "trigger" .*→ 200\n.*paysTesters/)]);
    const [[event]] = pay.mock.calls as unknown as [[{ code: string }]];
    expect(event).toMatchObject({ userId: "42", reference: "trigger", isTest: true });
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
    expect((await ads.code(event.code)).earned).toEqual([]);
    expect((await run(["trigger", "--user", "43"], env)).report).toMatch(/NOT_A_TESTER.*--tester 43/);
  });

  test.each([["stats"], ["earnings"]])("%s is a table, also of the last seven days as 7d", async (name) => {
    const { fake, env } = await startFake({ webhook: async () => new Response() });
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
    await fake.earn((await ads.createCode({ userId: "42" })).code);
    const { code, report } = await run([name, "--from", "7d"], env);
    expect([code, report]).toEqual([0, expect.stringMatching(/^day .*rewards.*\ntotal .*1/)]);
    const { from, to } = await ads.stats({ from: "7d" });
    expect(Date.parse(to) - Date.parse(from)).toBeCloseTo(7 * 86_400_000, -5);
    expect((await run([name, "--from", "soon"], env)).report).toMatch(/from.*date.*"soon"/);
  });

  test.each([["stats"], ["earnings"]])("%s of references counts what codes of a prefix earned", async (name) => {
    const { fake, env } = await startFake({ webhook: async () => new Response() });
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
    for (const [userId, reference] of [
      ["42", "shop-5"],
      ["43", "shop-10"],
      ["43", "menu"],
    ] as const)
      await fake.earn((await ads.createCode({ userId, reference })).code);
    const byReference = await run([name, "--reference-prefix", "shop-", "--by", "reference"], env);
    const table = /^reference +rewards .*\nshop-10 +1 .*\nshop-5 +1 .*\ntotal +2 +0 +2 /;
    expect([byReference.code, byReference.report]).toEqual([0, expect.stringMatching(table)]);
    expect((await run([name, "--by", "reference"], env)).report).toMatch(/\nmenu .*\n(.*\n)*total +3 /);
  });
});

describe("the command line", () => {
  test.each<[string, string[], string]>([
    ["an unknown command", ["start"], 'no command "start"'],
    ["an unknown option", ["listen", "--forwrd", "x"], "--forwrd"],
    ["an option without its value", ["listen", "--forward"], "--forward"],
    ["too many words", ["doctor", "now"], '"now"'],
    ["a missing setting", ["doctor"], "--token (AD_API_TOKEN) is missing: set it to the bot's API token"],
    [
      "an address without its scheme",
      ["listen", "--url", "rewards.example.com"],
      "--url (AD_SERVICE_URL) has no scheme: write https://rewards.example.com",
    ],
    ["a token of @BotFather", ["doctor", "--token", "7:AAA"], "--token (AD_API_TOKEN) is a token of @BotFather"],
    ["a quoted id", ["doctor", "--bot-id", '"7"'], "--bot-id (BOT_ID) must be the bot's Telegram id"],
    ["a bot's whole token as its id", ["doctor", "--bot-id", "7:AAA"], "--bot-id (BOT_ID) contains a whole token"],
    ["a trigger for nobody", ["trigger"], "--user is missing"],
    ["an option of another command", ["doctor", "--user", "42"], "--user belongs to trigger, not to doctor"],
    ["an unknown event", ["trigger", "--user", "42", "--event", "paid"], "--event must be rewarded or direct_link"],
    ["an unknown key", ["stats", "--by", "week"], "--by must be one of hour, day"],
    [
      "a prefix split by campaign",
      ["stats", "--by", "campaign", "--reference-prefix", "shop"],
      "--by campaign does not go with --reference-prefix: choose one of hour, day, reference",
    ],
    ["--all without --forward", ["listen", "--all"], "--all needs --forward"],
  ])("reports %s with exit code 2", async (_name, words, expected) => {
    const { code, output } = start(words, {});
    expect(await code).toBe(2);
    expect(output.join("\n")).toContain(expected);
    expect(output.join("\n")).toContain("--help");
  });

  test.each([[[]], [["--help"]], [["listen", "--help"]]])("%j shows the help", async (words) => {
    const { code, output } = start(words, {});
    expect(await code).toBe(0);
    expect(output.join()).toContain("Usage: intermission-publisher");
  });
});
