import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Page } from "@playwright/test";
import { end, outputOf } from "../examples/live-stack.ts";
import { startAdsCommands } from "../scripts/ads-commands.ts";
import { type DemoStack, startDemoStack } from "../scripts/demo-stack.ts";
import { freePort, root } from "../scripts/processes.ts";
import { expect, newDataDirectory, test } from "./stack.ts";

test.setTimeout(180_000);
// One stack for all: only one program is the bot at a time.
test.describe.configure({ mode: "default" });

const botId = "123456789";
let dataDirectory: string;
let webhookPort: number;
let commands: ReturnType<typeof startAdsCommands>;
let stack: DemoStack;

/** What `npm start -- --bot 123456789 --webhook-url …` starts. */
test.beforeAll(async () => {
  test.setTimeout(180_000);
  dataDirectory = await newDataDirectory();
  webhookPort = await freePort();
  commands = startAdsCommands();
  stack = await startDemoStack({
    dataDirectory,
    runAds: commands.run,
    hasChat: true,
    cooldownSeconds: 0,
    dailyCap: 100,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    video: join(root, "e2e/fixtures/clip-2s.mp4"),
    ownBot: { botId, webhookUrl: `http://127.0.0.1:${webhookPort}/webhooks/ads`, apiToken: undefined },
  });
});
test.afterAll(async () => {
  await stack?.stop();
  await commands.stop();
  rmSync(dataDirectory, { recursive: true, force: true });
});

async function watchAd(page: Page, button: string): Promise<void> {
  await page.getByRole("button", { name: button }).click();
  const miniapp = page.frameLocator("#screen iframe");
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await miniapp.getByRole("button", { name: /^Reward earned/ }).click({ timeout: 20_000 });
  await miniapp.getByRole("button", { name: "Close" }).click();
  await expect(page.locator("#screen iframe")).toHaveCount(0);
}

test("an endpoint that is not ready is named with its reason, and works soon after its program starts", {
  tag: "@long",
}, async ({ page }) => {
  await page.goto(`${stack.urls.demoBot}/?user=1000`);
  await page.getByRole("button", { name: "What happened" }).click();
  const reason = page.getByText("Nothing listens there: is your program running?");
  await expect(reason).toBeVisible();
  await page.getByRole("button", { name: "Test now" }).click();
  await expect(page.getByRole("button", { name: "Test now" })).toBeEnabled();
  await expect(reason).toBeVisible();
  const program = createServer((_request, response) => response.end()).listen(webhookPort, "127.0.0.1");
  try {
    await expect(page.getByRole("button", { name: "Test now" })).toBeHidden({ timeout: 30_000 });
  } finally {
    program.close();
  }
});

test("a program with a Telegram webhook gets messages with its secret; its links and keyboards can be tapped", async ({
  page,
}) => {
  const { TELEGRAM_BOT_TOKEN: token, BOT_API_URL: botApi } = stack.ownBot?.environment ?? {};
  const call = (method: string, fields: object) =>
    fetch(`${botApi}/bot${token}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(fields),
    });
  const heard: string[] = [];
  const program = createServer(async (request, response) => {
    const { message } = JSON.parse(await text(request));
    heard.push(`${request.headers["x-telegram-bot-api-secret-token"]} ${message.text}`);
    const keyboard = [["Red", "Green"], [{ text: "Blue" }]];
    const answer = { chat_id: message.chat.id, text: "Rules: https://example.com/rules.", reply_markup: { keyboard } };
    response.setHeader("content-type", "application/json").end(JSON.stringify({ method: "sendMessage", ...answer }));
  });
  const port = await freePort();
  program.listen(port, "127.0.0.1");
  try {
    await call("setWebhook", { url: `http://127.0.0.1:${port}/telegram`, secret_token: "s3cret" });
    await page.goto(`${stack.urls.demoBot}/?user=1003`);
    const link = page.getByRole("link", { name: "https://example.com/rules" });
    await expect(link).toHaveAttribute("href", "https://example.com/rules");
    await expect(link).toHaveAttribute("rel", /noopener/);
    await page.getByRole("button", { name: "Blue" }).click();
    await expect.poll(() => heard).toEqual(["s3cret /start", "s3cret Blue"]);
    await expect(page.getByRole("log").getByText("Blue", { exact: true })).toBeVisible();
  } finally {
    await call("deleteWebhook", {});
    program.closeAllConnections();
    program.close();
  }
});

test("a bot's own program talks in the chat, its ad opens in the phone, and its webhook pays", {
  tag: "@long",
}, async ({ page }) => {
  const bot = spawn(process.execPath, ["main.ts"], {
    cwd: join(root, "examples/grammy-bot"),
    env: {
      PATH: process.env.PATH,
      PORT: String(webhookPort),
      DATABASE: join(dataDirectory, "coins.sqlite"),
      ...stack.ownBot?.environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // `end` stops its process group.
    detached: true,
  });
  const output = outputOf(bot);
  try {
    await expect.poll(output, { timeout: 30_000 }).toContain("listens");
    await page.goto(`${stack.urls.demoBot}/?user=1001`);
    await expect(page.getByRole("heading", { name: "My bot", exact: true }).first()).toBeVisible();
    // The answer of the bot's program to /start, which a new chat sends.
    await expect(page.getByText("watch an ad for 10 coins")).toBeVisible();
    await page.getByRole("button", { name: "/bonus" }).first().click();
    await watchAd(page, "🎁 Watch and earn");
    await expect(page.getByText("🎉 10 coins for you.")).toBeVisible({ timeout: 20_000 });

    await page.getByRole("button", { name: "What happened" }).click();
    const facts = page.getByRole("complementary");
    await facts.getByRole("tab", { name: "Webhooks" }).click();
    await expect(facts.getByText("delivered to the webhook").first()).toBeVisible();
    await expect(facts.getByText("1001 (you)")).toBeVisible();
    await expect(facts.getByText("Balance in the ledger")).toBeHidden();
    await facts.getByRole("tab", { name: "Timeline" }).click();
    await expect(facts.getByText("Earned: the ad service recorded the event")).toBeVisible();

    // The companion API runs along for this bot: its key creates codes.
    const { API_URL, BACKEND_API_KEY } = stack.ownBot?.environment ?? {};
    const created = await fetch(`${API_URL}/v1/codes/create`, {
      method: "POST",
      headers: { authorization: `Bearer ${BACKEND_API_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ userId: "1001" }),
    });
    expect(await created.json()).toMatchObject({ outcome: "created", miniappUrl: expect.stringContaining(botId) });
    expect((await fetch(`${API_URL}/docs`)).status).toBe(200);
  } finally {
    await end(bot);
  }
  expect(output()).not.toMatch(/error/i);
});

test("a request to join the private channel opens the mini-app, and one watched ad lets the user in", {
  tag: "@long",
}, async ({ page }) => {
  const bot = spawn(process.execPath, ["main.ts"], {
    cwd: join(root, "examples/watch-to-join"),
    env: {
      PATH: process.env.PATH,
      PORT: String(webhookPort),
      EVENTS_FILE: join(dataDirectory, "ad-events.txt"),
      ...stack.ownBot?.environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const output = outputOf(bot);
  try {
    await expect.poll(output, { timeout: 30_000 }).toContain("listens");
    await page.goto(`${stack.urls.demoBot}/?user=1005`);
    await page.getByRole("button", { name: /^Secret Garden\s+Request to join$/ }).click();
    const miniapp = page.frameLocator("#screen iframe");
    await expect(miniapp.getByRole("heading", { name: /get a place in Secret Garden$/ })).toBeVisible();
    await miniapp.getByRole("button", { name: /^Watch/ }).click();
    await miniapp.getByRole("button", { name: /^Earned: a place in Secret Garden/ }).click({ timeout: 20_000 });
    await expect(miniapp.getByRole("heading", { name: "Earned: a place in Secret Garden" })).toBeVisible({
      timeout: 20_000,
    });
    await miniapp.getByRole("button", { name: "Close" }).click();
    await expect(page.getByText("✅ You are in “Secret Garden”.")).toHaveCount(1);
  } finally {
    await end(bot);
  }
  expect(output()).not.toMatch(/error/i);
});

test("a web_app button of a reply keyboard opens the mini-app without a user, and the panel says why", {
  tag: "@long",
}, async ({ page }) => {
  const { BOT_API_URL: chat, TELEGRAM_BOT_TOKEN: token } = stack.ownBot?.environment ?? {};
  const web_app = { url: `${stack.urls.adService}/app/${botId}` };
  await page.goto(`${stack.urls.demoBot}/?user=1003`);
  await expect(page.getByRole("heading", { name: "My bot", exact: true }).first()).toBeVisible();
  const sent = await fetch(`${chat}/bot${token}/sendMessage`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chat_id: 1003, text: "An ad:", reply_markup: { keyboard: [[{ text: "Earn", web_app }]] } }),
  });
  expect(sent.status).toBe(200);
  const button = page.getByRole("group", { name: "Quick replies" }).getByRole("button", { name: "Earn" });
  await button.click();
  const miniapp = page.frameLocator("#screen iframe");
  await expect(miniapp.getByRole("heading", { name: "Telegram didn’t say who you are" })).toBeVisible();
  await miniapp.getByRole("button", { name: "Close" }).click();
  await expect(page.locator("#screen iframe")).toHaveCount(0);
  await expect(page.getByRole("alert")).toContainText("This button is in a reply keyboard");
  await page.getByRole("button", { name: "What happened" }).click();
  await expect(page.getByRole("complementary")).toContainText("Send the button in an inline keyboard");
});

test("without a program the chat itself offers the bot's ads, and shows that they earned", { tag: "@long" }, async ({
  page,
}) => {
  await page.goto(`${stack.urls.demoBot}/?user=1002`);
  await expect(page.getByText("this chat stands in for it")).toBeVisible({ timeout: 30_000 });
  await page.getByRole("group", { name: "Quick replies" }).getByRole("button", { name: "/bonus" }).click();
  await watchAd(page, "Watch an ad");
  await page.getByRole("button", { name: "What happened" }).click();
  await page.getByRole("tab", { name: "Webhooks" }).click();
  await expect(page.getByRole("complementary").getByText("1002 (you)")).toBeVisible({ timeout: 20_000 });
});
