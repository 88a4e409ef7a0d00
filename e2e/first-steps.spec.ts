import { rmSync } from "node:fs";
import { join } from "node:path";
import { startAdsCommands } from "../scripts/ads-commands.ts";
import { demoSecrets } from "../scripts/demo-secrets.ts";
import { environmentOf } from "../scripts/demo-stack.ts";
import { freePort, root, type Server, startServer } from "../scripts/processes.ts";
import { analyze } from "./axe.ts";
import { openReceiver } from "./console.ts";
import { expect, newDataDirectory, test } from "./stack.ts";

test.setTimeout(180_000);
test.use({ isMobile: false, hasTouch: false, viewport: { width: 1280, height: 800 } });

const BOT = "9100000001";
const TESTER = "42";

let dataDirectory: string;
let server: Server;
let commands: ReturnType<typeof startAdsCommands>;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let address: string;
let ads: (...words: string[]) => Promise<string>;

/** An ad service in which there is nothing, as after an installation. */
test.beforeAll(async () => {
  dataDirectory = await newDataDirectory();
  commands = startAdsCommands();
  receiver = await openReceiver();
  receiver.state.status = 200;
  const port = await freePort();
  address = `http://localhost:${port}`;
  const adService = `http://127.0.0.1:${port}`;
  const secrets = demoSecrets(dataDirectory);
  const options = {
    dataDirectory,
    ports: { adService: port, api: port, demoBot: port },
    video: "",
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 100,
  };
  const environment = environmentOf("ad-service", secrets, options, { adService, api: adService, demoBot: adService });
  server = startServer("ad-service", "apps/ad-service/src/main.ts", environment);
  await server.ready;
  ads = (...words) => commands.run(words, { ADS_URL: adService, OPERATOR_TOKEN: secrets.operatorToken });
});
test.afterAll(async () => {
  await server?.stop();
  await receiver?.close();
  await commands?.stop();
  rmSync(dataDirectory, { recursive: true, force: true });
});

test("an empty deployment shows its first steps, which lead to where they are done, tick themselves, and go away", {
  tag: "@long",
}, async ({ page }) => {
  await ads("people", "add", "first@demo.example", "--role", "owner");
  const { link } = JSON.parse(await ads("people", "sign-in-link", "first@demo.example", "--json"));
  await page.goto(link);
  const list = page.getByRole("region", { name: "First steps" });
  const done = list.getByRole("status");
  await expect(done).toHaveText("0 of 5 done");
  await expect(page.getByText("Nothing needs your attention.")).toBeVisible();
  await expect(page.getByRole("region", { name: "The last 24 hours" })).toHaveCount(0);
  expect((await analyze(page)).violations).toEqual([]);
  for (const [step, title] of [
    ["Add the first bot, and test its webhook", "Add a bot"],
    ["Add the first video", "Creatives"],
    ["Make the first campaign", "New campaign"],
    ["Invite another person", "People"],
  ] as const) {
    await list.getByRole("link", { name: step }).click();
    await page.getByRole("heading", { name: title, level: 1 }).waitFor({ timeout: 30_000 });
    await page.goto(`${address}/console/`);
  }

  const bot = ["--bot-id", BOT, "--name", "First Bot", "--tester", TESTER, "--webhook-url", receiver.state.url];
  const { token } = JSON.parse(await ads("bots", "add", ...bot, "--json"));
  await expect(done).toHaveText("1 of 5 done", { timeout: 30_000 });
  // A test of the webhook is no reward; the bot's screen says what its program needs.
  await list.getByRole("link", { name: "Watch an ad in the bot" }).click();
  await page.getByRole("heading", { name: "First Bot", level: 1 }).waitFor({ timeout: 30_000 });
  await page.goto(`${address}/console/`);
  await ads("creatives", "add", join(root, "e2e/fixtures/clip-2s.mp4"));
  await expect(done).toHaveText("2 of 5 done", { timeout: 30_000 });
  const campaign = ["--advertiser", "First Shop", "--name", "First campaign", "--format", "direct_link"];
  await ads("campaigns", "add", ...campaign, "--landing-url", `${address}/landing`);
  await expect(done).toHaveText("3 of 5 done", { timeout: 30_000 });

  const answer = await fetch(`${address}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: BOT, user_tg_id: TESTER }),
  });
  const { direct_link: directLink } = (await answer.json()) as { direct_link: string };
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  await fetch(directLink, { redirect: "manual", headers: { "user-agent": agent, "accept-language": "en" } });
  await expect(done).toHaveText("4 of 5 done", { timeout: 30_000 });
  await expect(list.getByRole("link")).toHaveText(["Invite another person"]);

  await ads("people", "add", "second@demo.example", "--role", "analyst");
  await expect(list).toHaveCount(0, { timeout: 30_000 });
  await expect(page.getByRole("region", { name: "The last 24 hours" })).toBeVisible();
});
