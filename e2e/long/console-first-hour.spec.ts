import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type Page, test } from "@playwright/test";
import { startAdsCommands } from "../../scripts/ads-commands.ts";
import { demoSecrets } from "../../scripts/demo-secrets.ts";
import { environmentOf } from "../../scripts/demo-stack.ts";
import { freePort, root, type Server, startServer } from "../../scripts/processes.ts";
import { analyze } from "../axe.ts";
import { expect } from "../console.ts";
import { faultsOf } from "../page-faults.ts";
import { newDataDirectory } from "../stack.ts";

test.describe.configure({ mode: "default" });
test.setTimeout(300_000);

const BOT = "9200000001";
const SAMPLE_BOT = "99000000000000001";

/** An ad service of its own: first with one bot and one advertiser of which nothing is known yet, then with sample traffic. */
let dataDirectory: string;
let server: Server;
let commands: ReturnType<typeof startAdsCommands>;
let address: string;
let ads: (...words: string[]) => Promise<string>;

test.beforeAll(async () => {
  dataDirectory = await newDataDirectory();
  commands = startAdsCommands();
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
  await commands?.stop();
  rmSync(dataDirectory, { recursive: true, force: true });
});

const languages = ["en", "ru"] as const;
type Language = (typeof languages)[number];

const sizes = [
  { name: "desk", width: 1280, height: 800, colorScheme: "light" },
  { name: "tablet", width: 768, height: 1024, colorScheme: "light" },
  { name: "phone", width: 360, height: 780, colorScheme: "dark" },
] as const;

/** Each section that a role has in its menu, and its screens beside them. */
const more: Readonly<Record<string, readonly string[]>> = {
  owner: ["campaigns/new", "bots/new"],
  "ad-ops": ["campaigns/new", "approval/campaigns"],
  advertiser: ["campaigns/new"],
  publisher: [],
  finance: [],
};

/** A window in which the person is signed in. A screen that asks for what its role may not read is a fault. */
async function openAs(browser: Browser, person: string, language: Language) {
  const context = await browser.newContext({ locale: language, isMobile: false, hasTouch: false });
  const page = await context.newPage();
  const faults = faultsOf(page);
  const { link } = JSON.parse(await ads("people", "sign-in-link", person, "--json"));
  await page.goto(link);
  await page.locator("#content h1").waitFor();
  return { page, faults, close: () => context.close() };
}

/** The addresses of the role's menu. */
const sectionsOf = async (page: Page) => {
  await page.locator("nav a[href]").first().waitFor({ state: "attached" });
  const all = await page.locator("nav a[href]").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  return [...new Set(all)].filter((href) => href?.startsWith("/console")).map((href) => `${href}`.slice(9));
};

/** Opens a screen, and looks at it in every size: with a picture of each, for whoever wants to look, too. */
async function lookAt(page: Page, path: string): Promise<void> {
  await page.goto(`${address}/console/${path}`);
  await page.locator("#content h1").waitFor();
  await expect(page.locator(".skeleton, [aria-busy=true]")).toHaveCount(0);
  for (const { name, width, height, colorScheme } of sizes) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    const picture = `${path.replaceAll("/", "-") || "overview"}-${name}.png`;
    await page.screenshot({ path: test.info().outputPath(picture), fullPage: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth), picture).toBeLessThanOrEqual(width);
    expect(await cutOff(page), picture).toEqual([]);
  }
}

/** Texts of controls that their boxes cut off. */
const cutOff = (page: Page) =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        ".brand strong, #content :is(h1, h2, h3, button, label, th, legend, summary, .button)",
      ),
    ]
      .filter(
        (one) =>
          one.checkVisibility() &&
          one.clientWidth > 1 &&
          one.scrollWidth > one.clientWidth + 1 &&
          getComputedStyle(one).overflowX !== "visible",
      )
      .map((one) => one.textContent),
  );

for (const deployment of ["empty", "sample"] as const) {
  test.describe(`on ${deployment === "empty" ? "an empty" : "a sample"} deployment`, () => {
    test.beforeAll(async () => {
      const own =
        deployment === "empty"
          ? { bot: BOT, advertiser: "Own Shop" }
          : { bot: SAMPLE_BOT, advertiser: "adv_SampleNorthwind" };
      if (deployment === "empty") {
        await ads("advertisers", "add", own.advertiser);
        await ads("bots", "add", "--bot-id", BOT, "--name", "Own Bot");
      } else {
        await ads("creatives", "add", join(root, "e2e/fixtures/clip-2s.mp4"));
        await ads("sample", "add");
      }
      const objects: Readonly<Record<string, readonly string[]>> = {
        advertiser: ["--advertiser", own.advertiser],
        publisher: ["--bot-id", own.bot],
      };
      for (const role of Object.keys(more))
        await ads("people", "add", `${role}@${deployment}.example`, "--role", role, ...(objects[role] ?? []));
    });

    for (const role of Object.keys(more)) {
      for (const language of languages) {
        test(`${role}, ${language}: every screen of the first hour is whole in every size`, async ({ browser }) => {
          const { page, faults, close } = await openAs(browser, `${role}@${deployment}.example`, language);
          const paths = await sectionsOf(page);
          expect(paths.length).toBeGreaterThan(2);
          for (const path of new Set([...paths, ...(more[role] ?? []), "account"])) await lookAt(page, path);
          // Each screen is analyzed by the flows of the screens.
          expect((await analyze(page)).violations).toEqual([]);
          expect(faults).toEqual([]);
          await close();
        });
      }
    }
  });
}
