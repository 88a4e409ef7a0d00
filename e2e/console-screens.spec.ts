import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { root } from "../scripts/processes.ts";
import { analyze } from "./axe.ts";
import { expect, test, windows } from "./console.ts";
import { newAddress, newCode } from "./stack.ts";

test.describe.configure({ mode: "default" });

const BOT = "7000000001";

interface Ids {
  campaignId: string;
  advertiserId: string;
  creativeId: string;
  buyerId: string;
  invitation: string;
}

/** Whoever is signed out sees these: the browser reports the refusals of the session and of a link as errors. */
const signedOut: Record<string, (ids: Ids) => string[]> = {
  "/invitation": ({ invitation }) => [invitation],
  "/sign-in-link": () => ["sign-in-link#used", ""],
  "/openid": () => ["openid"],
  "/email": () => ["email#new", "email#undo-former"],
};

/** An address of each other route of `apps/console/src/routes.tsx`, or several where one screen has several faces. */
const addresses: Record<string, (ids: Ids) => string[]> = {
  "/": () => [""],
  "/campaigns": () => ["campaigns"],
  "/campaigns/new": () => ["campaigns/new"],
  "/campaigns/$campaignId": ({ campaignId }) => [`campaigns/${campaignId}`],
  "/creatives": () => ["creatives"],
  "/approval": () => ["approval"],
  "/approval/campaigns": () => ["approval/campaigns"],
  "/creatives/vast": () => ["creatives/vast"],
  "/creatives/$creativeId": ({ creativeId }) => [`creatives/${creativeId}`],
  "/explain": () => [`explain?bot=${BOT}`],
  "/bots": () => ["bots"],
  "/bots/new": () => ["bots/new"],
  "/bots/$botId": () => [`bots/${BOT}`],
  "/advertisers": () => ["advertisers"],
  "/advertisers/$advertiserId": ({ advertiserId }) => [`advertisers/${advertiserId}`],
  "/buyers": () => ["buyers"],
  "/buyers/$buyerId": ({ buyerId }) => [`buyers/${buyerId}`],
  "/payouts": () => ["payouts"],
  "/approvals": () => ["approvals"],
  "/filings": () => ["filings"],
  "/timeline": () => ["timeline", "timeline?find=601"],
  "/reviews": () => ["reviews", "reviews?of=clicks&state=paid"],
  "/conversions": () => ["conversions"],
  "/tasks": () => ["tasks"],
  "/publisher": () => ["publisher"],
  "/reports": () => ["reports?compare=previous", "reports?by=bot&compare=weekdays", "reports?time=day&by=campaign"],
  "/people": () => ["people"],
  "/account": () => ["account"],
  "/alerts": () => ["alerts"],
  "/audit": () => ["audit"],
  "/system": () => ["system"],
  $: () => ["no-such-page"],
};

let ids: Ids;

/** Something for each screen to show: a click that was counted, and a person who is invited. */
test.beforeAll(async ({ stack }) => {
  const list = async (what: string) => JSON.parse(await stack.ads([what, "list", "--json"]));
  const [{ campaignId }] = await list("campaigns");
  const [{ advertiserId }] = await list("advertisers");
  const [{ creativeId }] = await list("creatives");
  const buyer = ["buyers", "add", `Exchange ${Date.now()}`, "--address", "https://buyer.example/bid", "--json"];
  const { buyerId } = JSON.parse(await stack.ads(buyer));
  const invited = ["people", "add", `screens${Date.now()}@demo.example`, "--role", "analyst", "--json"];
  const { hash } = new URL(JSON.parse(await stack.ads(invited)).link);
  ids = { campaignId, advertiserId, creativeId, buyerId, invitation: `invitation${hash}` };
});

async function clickOnce({ ads }: DemoStack, directLink: string): Promise<void> {
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": newAddress() };
  await fetch(directLink, { redirect: "manual", headers });
  const clicks = async () => JSON.parse(await ads(["stats", "--by", "bot", "--json"])).total.clicks;
  await expect.poll(clicks, { timeout: 20_000 }).toBeGreaterThan(0);
}

test("each route of the console has an address here, so that no screen is left out", () => {
  const source = readFileSync(join(root, "apps/console/src/routes.tsx"), "utf8");
  const paths = [...source.matchAll(/^ {2}path: "([^"]+)",$|\bpath: "(\$)"/gm)].map(([, path, rest]) => path ?? rest);
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.toSorted()).toEqual(Object.keys({ ...addresses, ...signedOut }).toSorted());
});

// Those with sample traffic are examined on a desk in both colours: long/console-sample.spec.ts.
for (const { name, size } of windows) {
  for (const colorScheme of [name === "desk" ? ("light" as const) : ("dark" as const)]) {
    test.describe(`in ${colorScheme} colours, in the window of a ${name}`, { tag: "@long" }, () => {
      test.use({ colorScheme, window: size, locale: colorScheme === "dark" ? "ru-RU" : "en-US" });

      test("no screen has axe violations, is wider than its window, or writes an error", async ({
        reader,
        stack,
        api,
        userId,
      }) => {
        test.setTimeout(240_000);
        const { page } = reader;
        await clickOnce(stack, (await newCode(api, userId)).directLink);
        for (const path of Object.values(addresses).flatMap((of) => of(ids))) await examine(page, path);
      });

      test("no screen for who is signed out has axe violations or is wider than its window", async ({
        browser,
        stack,
        locale,
      }) => {
        const address = stack.urls.adService.replace("127.0.0.1", "localhost");
        const options = { colorScheme, viewport: size, isMobile: false, baseURL: `${address}/console/` };
        const page = await browser.newPage({ ...options, ...(locale !== undefined && { locale }) });
        for (const path of Object.values(signedOut).flatMap((of) => of(ids))) await examine(page, path);
        await page.close();
      });
    });
  }
}

/** Takes a picture, too, for whoever wants to look at the screens. */
async function examine(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator("h1").waitFor();
  await page.waitForLoadState("networkidle");
  await expect(page.locator(".skeleton")).toHaveCount(0);
  for (const folded of await page.locator(".form-fold > summary").all()) await folded.click();
  await expect(page.locator(".skeleton")).toHaveCount(0);
  expect((await analyze(page)).violations, path).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBe(0);
  const file = `${path.replace(/#.*/, "").replaceAll(/\W+/g, "-") || "overview"}.png`;
  await page.screenshot({ path: test.info().outputPath(file), fullPage: true });
}
