// @module-tag long
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Found, findGo, findLaravel, findPhp, findPython } from "../scripts/find-programs.ts";
import { freePort, root } from "../scripts/processes.ts";
import { startFakeBotApi } from "./fake-bot-api.ts";
import { type ExampleBot, end, type LiveStack, outputOf, startLiveStack } from "./live-stack.ts";

const folderOf = (name: string) => join(import.meta.dirname, name);
const node: Found = { path: process.execPath };
const pythonPath = join(root, "clients/python/src");

/** Prints what is not tested here, and why. */
function pathOf(name: string, found: Found): string {
  if ("path" in found) return found.path;
  console.log(`!!! examples/${name} was not run: ${found.missing}`);
  return "";
}

let stack: LiveStack;
beforeAll(async () => {
  stack = await startLiveStack();
});
afterAll(() => stack?.stop());

let bots = 0;
const newBot = () => stack.addBot(String(7_100_000_001 + bots++));

/** Tests the webhook. The service may be testing it at that moment by itself: then it asks to try again. */
async function activate(bot: ExampleBot): Promise<void> {
  const test = () =>
    stack.call<{ delivered: boolean }>(bot, "POST", "/webhook/test", {}).catch((error: Error) => {
      if (error.message.includes("TEST_UNDER_WAY")) return { delivered: "under way" };
      throw error;
    });
  await expect
    .poll(test, { timeout: 20_000, interval: 200, message: "the answer to a test event" })
    .toMatchObject({ delivered: true, endpoint: "active" });
}

interface Backend {
  readonly found: Found;
  /** Runs before the backend starts. */
  readonly prepare?: (path: string, folder: { readonly scratch: string }) => readonly string[];
  readonly command: (path: string, place: { readonly port: number; readonly scratch: string }) => readonly string[];
}

const backends: Record<string, Backend> = {
  hono: { found: node, command: (path) => [path, "main.ts"] },
  express: { found: node, command: (path) => [path, "main.ts"] },
  nest: {
    found: node,
    prepare: () => ["node_modules/.bin/tsdown", "main.ts", "--no-dts", "--logLevel", "warn"],
    command: (path) => [path, "dist/main.mjs"],
  },
  "fastapi-aiogram": {
    found: findPython(["httpx", "fastapi", "uvicorn"]),
    command: (path, { port }) => [path, "-m", "uvicorn", "app:app", "--log-level", "warning", "--port", `${port}`],
  },
  django: {
    found: findPython(["httpx", "django"]),
    prepare: (path) => [path, "manage.py", "migrate", "--run-syncdb"],
    command: (path, { port }) => [path, "manage.py", "runserver", "--noreload", `127.0.0.1:${port}`],
  },
  flask: {
    found: findPython(["httpx", "flask"]),
    command: (path, { port }) => [path, "-m", "flask", "run", "--port", `${port}`],
  },
  go: {
    found: findGo(),
    prepare: (path, { scratch }) => [path, "build", "-o", join(scratch, "example"), "."],
    command: (_path, { scratch }) => [join(scratch, "example")],
  },
  php: { found: findPhp(), command: (path, { port }) => [path, "-S", `127.0.0.1:${port}`, "index.php"] },
  laravel: { found: findLaravel(), command: (path, { port }) => [path, "-S", `127.0.0.1:${port}`, "serve.php"] },
};

describe.each(Object.entries(backends))("examples/%s", (name, { found, prepare, command }) => {
  const path = pathOf(name, found);

  test.skipIf(path === "")("pays a click once: after a second delivery, a forgery and a restart, too", async () => {
    const bot = await newBot();
    const url = `http://127.0.0.1:${bot.port}`;
    const scratch = mkdtempSync(join(stack.dataDirectory, `${name}-`));
    const env = {
      DATABASE: join(scratch, "coins.sqlite"),
      LEDGER: join(scratch, "coins.json"),
      PYTHONPATH: pythonPath,
      PYTHONDONTWRITEBYTECODE: "1",
    };
    if (prepare) {
      const preparing = stack.startBackend(bot, prepare(path, { scratch }), folderOf(name), env);
      const output = outputOf(preparing);
      expect(await new Promise((resolve) => preparing.once("close", resolve)), output()).toBe(0);
    }
    const words = command(path, { port: bot.port, scratch });
    const ask = async (path: string) => (await (await fetch(url + path)).json()) as Readonly<Record<string, unknown>>;
    const coins = async () => (await ask("/coins/42")).coins;
    const start = async () => {
      const child = stack.startBackend(bot, words, folderOf(name), env);
      const output = outputOf(child);
      await expect
        .poll(() => coins().catch(() => `not there yet: ${output()}`), { timeout: 30_000, interval: 50 })
        .toEqual(expect.any(Number));
      return child;
    };

    let backend = await start();
    await expect(fetch(`http://127.0.0.2:${bot.port}/coins/42`), "listens on 127.0.0.1 only").rejects.toThrow();
    await activate(bot);
    expect(await coins(), "a test event pays nothing").toBe(0);

    const ad = await ask("/ads/42");
    expect(ad.miniappUrl ?? ad.miniapp_url).toContain(`/app/${bot.botId}?code=`);
    expect(await stack.followLink(String(ad.directLink ?? ad.direct_link))).toBe(302);
    await expect.poll(coins, { timeout: 20_000, interval: 50 }).toBe(10);

    const forged = { event: "rewarded", event_id: "evt_forged", user_tg_id: "42" };
    const headers = { "content-type": "application/json", "x-signature": `sha256=${"0".repeat(64)}` };
    const refused = await fetch(`${url}/webhooks/ads`, { method: "POST", headers, body: JSON.stringify(forged) });
    expect(refused.status).toBe(401);

    await end(backend);
    backend = await start();
    const { events } = await stack.call<{ events: { event_id: string }[] }>(bot, "GET", "/events");
    const clicked = events.find((event) => !("test" in event))?.event_id ?? "";
    await stack.call(bot, "POST", `/events/${clicked}/redeliver`);
    const delivery = async () => {
      const page = await stack.call<{ events: { event_id: string; delivery: string }[] }>(bot, "GET", "/events");
      return page.events.find((event) => event.event_id === clicked)?.delivery;
    };
    await expect.poll(delivery, { timeout: 20_000, interval: 50 }).toBe("delivered");
    expect(await coins()).toBe(10);
    await end(backend);
  });
});

test("examples/curl shows the addresses of a code and what it earned", async () => {
  const bot = await newBot();
  const script = stack.startBackend(bot, ["bash", "earn.sh", "43", "30"], folderOf("curl"), {});
  const output = outputOf(script);
  const ended = new Promise((resolve) => script.once("close", resolve));
  const link = () => /direct link: (\S+)/.exec(output())?.[1];
  await expect
    .poll(output, { timeout: 20_000, interval: 50 })
    .toMatch(/^waiting: +up to 30 s, until user 43 has watched the ad .* or opened the direct link$/m);
  expect(await stack.followLink(link() ?? "")).toBe(302);
  expect(await ended, output()).toBe(0);
  expect(output()).toContain(`/app/${bot.botId}?code=`);
  expect(output()).toContain("earned:      direct_link");
});

const python = findPython(["httpx", "pytest"]);

test.skipIf("missing" in python)("the Python client reads every answer of the ad service", async () => {
  const bot = await newBot();
  const ids = { bot_id: bot.botId, user_tg_id: "44" };
  const { code } = await stack.call<{ code: string }>(bot, "POST", "/codes", ids);
  expect(await stack.followLink(`${stack.url}/${code}`)).toBe(302);
  const command = [pathOf("fastapi-aiogram", python), "-m", "pytest", "-q", "tests/live_client.py"];
  const env = { EARNED_CODE: code, PYTHONDONTWRITEBYTECODE: "1" };
  const pytest = stack.startBackend(bot, command, join(pythonPath, ".."), env);
  const output = outputOf(pytest);
  const ended = new Promise((resolve) => pytest.once("close", resolve));
  expect(await ended, output()).toBe(0);
});

const telegramBots: [name: string, found: Found, script: string][] = [
  ["grammy-bot", node, "main.ts"],
  ["telegraf", node, "main.ts"],
  ["fastapi-aiogram", findPython(["httpx", "fastapi", "uvicorn", "aiogram"]), "bot.py"],
  ["python-telegram-bot", findPython(["httpx", "fastapi", "uvicorn", "telegram"]), "bot.py"],
];

describe.each(telegramBots.map(([name, ...bot], at) => [name, String(42 + at), ...bot] as const))(
  "the bot of examples/%s",
  (name, userId, found, script) => {
    const path = pathOf(`${name}/${script}`, found);

    test.skipIf(path === "")("offers an ad, pays for the view, and tells the user", async () => {
      // All are this bot, one after the other: its launch data can be signed without Telegram. Each has a user of its own,
      // since a user's next ad would wait for the cooldown.
      const bot = await demoBot();
      const telegram = await startFakeBotApi(stack.secrets.telegramBotToken);
      const scratch = mkdtempSync(join(stack.dataDirectory, `${name}-`));
      const child = stack.startBackend(bot, [path, script], folderOf(name), {
        TELEGRAM_BOT_TOKEN: stack.secrets.telegramBotToken,
        BOT_API_URL: telegram.url,
        PYTHONPATH: pythonPath,
        DATABASE: join(scratch, "bot.sqlite"),
        PYTHONDONTWRITEBYTECODE: "1",
      });
      const output = outputOf(child);
      const lastMessage = () => telegram.sent.at(-1) ?? output();

      telegram.write(userId, "/bonus");
      await expect.poll(lastMessage, { timeout: 30_000, interval: 50 }).toMatchObject({ chat_id: userId });
      const address = telegram.sent.at(-1)?.reply_markup?.inline_keyboard[0]?.[0]?.web_app?.url ?? "";
      expect(address).toContain(`/app/${bot.botId}?code=`);

      await activate(bot);
      await expect(fetch(`http://127.0.0.2:${bot.port}/webhooks/ads`), "listens on 127.0.0.1 only").rejects.toThrow();
      expect(await stack.watchAd(userId, new URL(address).searchParams.get("code") ?? "")).toBe("rewarded");
      await expect
        .poll(lastMessage, { timeout: 20_000, interval: 50 })
        .toMatchObject({ text: expect.stringContaining("🎉") });
      telegram.write(userId, "/coins");
      await expect.poll(lastMessage, { timeout: 20_000, interval: 50 }).toMatchObject({ text: "You have 10 coins." });
      await end(child);
      expect(output()).not.toMatch(/error|Traceback/i);
      telegram.stop();
    });
  },
);

let demo: Promise<ExampleBot> | undefined;
function demoBot(): Promise<ExampleBot> {
  demo ??= stack.addBot(stack.secrets.botId);
  return demo;
}

test('the commands of "On your own machine" lead to a paid reward', { timeout: 120_000 }, async () => {
  const page = readFileSync(folderOf("README.md"), "utf8");
  const [, section = ""] = /^## On your own machine$(.*?)^## /ms.exec(page) ?? [];
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const [start, addBot = "", startBackend = "", testWebhook = "", ask = "", coins = ""] = blocks;
  expect([start, blocks.length]).toEqual(["npm start\n", 6]);
  const port = await freePort();
  // A shell as a person has it: with npm's own variables, without those of Vitest.
  const env = { ...process.env, MODE: undefined, NODE_ENV: undefined, DATA_DIR: stack.dataDirectory };
  /** As on the page, but with this test's ports and files. */
  const here = (commands: string) =>
    commands
      .replaceAll("http://127.0.0.1:8701", stack.url)
      .replaceAll("127.0.0.1:3000", `127.0.0.1:${port}`)
      .replaceAll("bot.json", join(stack.dataDirectory, "bot.json"));
  const run = (commands: string) => spawnSync("bash", ["-euc", here(commands)], { cwd: root, env, encoding: "utf8" });

  const backend = stack.startBackend(
    { botId: "123456789", token: "", port },
    ["bash", "-euc", here(addBot + startBackend)],
    root,
    { ...env, DATABASE: join(stack.dataDirectory, "own-machine.sqlite"), AD_API_TOKEN: undefined },
  );
  const output = outputOf(backend);
  await expect.poll(() => run(coins).stdout || output(), { timeout: 60_000, interval: 300 }).toBe('{"coins":0}');

  const tested = run(testWebhook);
  expect(tested.status, tested.stdout + tested.stderr).toBe(0);
  expect(tested.stdout).toMatch(/^status +200$/m);
  const { directLink } = JSON.parse(run(ask).stdout);
  expect(await stack.followLink(directLink)).toBe(302);
  await expect.poll(() => run(coins).stdout, { timeout: 20_000, interval: 100 }).toBe('{"coins":10}');
  await end(backend);
});
