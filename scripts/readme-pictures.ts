/**
 * `node scripts/readme-pictures.ts`: renews the pictures of the documentation in `docs/images`. It starts the demo on free ports
 * with a temporary store, asks the bot for an ad and watches it in Chromium, and opens the console.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "@playwright/test";
import { buildPages } from "./build-miniapp.ts";
import { takeConsolePictures } from "./console-pictures.ts";
import { demoPictures, startDemoStack } from "./demo-stack.ts";
import { findBrowser } from "./find-browser.ts";
import { freePort, root } from "./processes.ts";
import { explain } from "./say.ts";
import "./stop-with-parent.ts";

const images = join(root, "docs/images");
const sample = join(root, "apps/ad-service/sample");
const phoneWidth = 250;
const quality = 80;

async function main(): Promise<void> {
  await buildPages();
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-pictures-"));
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });
  try {
    const stack = await startDemoStack({
      dataDirectory,
      ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
      video: join(sample, "house-ad.mp4"),
      poster: join(sample, "house-ad.webp"),
      hasChat: true,
      cooldownSeconds: 15,
      dailyCap: 50,
      isRewardNamed: true,
      pictures: demoPictures,
    });
    try {
      await takePictures(browser, `${stack.urls.demoBot}/?user=7`);
      await takeConsolePictures(browser, stack, images);
    } finally {
      await stack.stop();
    }
  } finally {
    await browser.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
  console.log(`the pictures are in ${images}`);
}

async function takePictures(browser: Browser, chat: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1240, height: 800 }, locale: "en-US" });
  await page.goto(chat);
  await page.getByRole("textbox", { name: "Message" }).fill("/bonus");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Watch an ad" }).click();
  const app = page.frameLocator('iframe[title="Mini-app"]');
  const phones: Buffer[] = [];
  const keepPhone = async () => phones.push(await page.locator("#phone").screenshot());
  await app.getByRole("button", { name: "Watch" }).waitFor();
  // The phone slides in.
  await page.locator("#phone").evaluate((phone) => Promise.all(phone.getAnimations().map(({ finished }) => finished)));
  await keepPhone();
  await app.getByRole("button", { name: "Watch" }).click();
  await app.getByText(/in 7 s$/).waitFor();
  await keepPhone();
  const earned = app.getByRole("button", { name: /^Earned/ });
  await earned.waitFor({ timeout: 30_000 });
  await keepPhone();
  await earned.click();
  await app.getByRole("heading", { name: "Reward credited" }).waitFor();
  await app.getByText(/^Next ad in 13/).waitFor();
  await page.getByText("Ledger of the bot").waitFor();
  await keepPhone();
  writeFileSync(join(images, "chat.jpg"), await page.screenshot({ type: "jpeg", quality, animations: "disabled" }));
  await page.close();
  await joinPhones(await browser.newPage({ viewport: { width: 4 * phoneWidth, height: 100 } }), phones);
}

/** The phones side by side. */
async function joinPhones(page: Page, phones: readonly Buffer[]): Promise<void> {
  const pictures = phones.map((phone) => `<img src="data:image/png;base64,${phone.toString("base64")}">`);
  await page.setContent(
    `<!doctype html><style>body{margin:0;display:flex;background:#e6ebe8}img{width:${phoneWidth}px}</style>${pictures.join("")}`,
  );
  const row = page.locator("body");
  writeFileSync(join(images, "miniapp.jpg"), await row.screenshot({ type: "jpeg", quality }));
}

main().catch(explain);
