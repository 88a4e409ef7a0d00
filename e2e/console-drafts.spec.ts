import type { Browser, Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { analyze } from "./axe.ts";
import { expect, test } from "./console.ts";
import { faultsOf } from "./page-faults.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default", timeout: 180_000 });

const ADVERTISER = "Lily Books";
const PERSON = "lily@example.com";

test.beforeAll(async ({ stack }) => {
  await stack.ads(["advertisers", "add", ADVERTISER, "--billing", "credit"]);
  await stack.ads(["people", "add", PERSON, "--role", "advertiser", "--advertiser", ADVERTISER]);
});

/** The console of the advertiser's person, on a phone. */
async function openAsAdvertiser(browser: Browser, { ads }: DemoStack, locale = "en"): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, locale });
  const page = await context.newPage();
  // The server refuses what the flow gets wrong, and asks for confirmations.
  faults = faultsOf(page, [400, 409]);
  await page.goto(JSON.parse(await ads(["people", "sign-in-link", PERSON, "--json"])).link);
  await page.locator("#content h1").waitFor();
  return page;
}

async function draft(page: Page, name: string): Promise<void> {
  await page.goto(new URL("/console/campaigns/new", page.url()).href);
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("rewarded video").uncheck();
  await page.getByLabel("direct link").check();
  await page.getByLabel("Landing page").fill("https://lily.example/spring");
  await page.getByLabel("Price of a click").fill("0.01");
  await page.getByLabel("Total budget").fill("20");
  await page.getByRole("button", { name: "Save as a draft" }).click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
}

/** Of the advertiser's page: a screen that asks for what the role may not read has some. */
let faults: string[] = [];
test.afterEach(() => expect(faults).toEqual([]));

const stateOf = (page: Page) => page.locator(".pill").first();

test("an advertiser drafts a campaign, submits it, reads why it is refused, submits it again, and it runs once it is approved", async ({
  desk,
  stack,
  browser,
}) => {
  const own = await openAsAdvertiser(browser, stack);
  await draft(own, "Spring books");
  await expect(stateOf(own)).toHaveText("draft");
  await own.getByRole("button", { name: "Submit for approval" }).click();
  await expect(stateOf(own)).toHaveText("waits for approval");
  expect((await analyze(own)).violations).toEqual([]);

  await desk.reload();
  await desk.getByRole("link", { name: "1 campaign waits for approval." }).click();
  await desk.getByRole("heading", { name: "Spring books" }).waitFor();
  await expect(desk.getByRole("link", { name: "https://lily.example/spring" })).toBeVisible();
  expect((await analyze(desk)).violations).toEqual([]);
  await desk.keyboard.press("r");
  await desk.getByLabel("Reason").fill("The page does not open");
  await desk.keyboard.press("Enter");
  await desk.getByText("Nothing waits for approval.").waitFor();

  await own.reload();
  await expect(own.getByText("Refused: The page does not open")).toBeVisible();
  await own.getByLabel("Landing page").fill("https://lily.example/books");
  await own.getByRole("button", { name: "Save", exact: true }).click();
  await expect(own.getByText("Saved", { exact: true })).toBeVisible();
  await own.getByRole("button", { name: "Submit for approval" }).click();
  await expect(stateOf(own)).toHaveText("waits for approval");

  await desk.reload();
  await expect(desk.getByRole("link", { name: "https://lily.example/books" })).toBeVisible();
  const price = desk.getByLabel("Price of a click");
  await price.fill("0.02");
  // A letter typed into a field does not approve or refuse.
  await price.press("a");
  await expect(desk.getByRole("heading", { name: "Spring books" })).toBeVisible();
  await price.fill("0.02");
  await price.blur();
  await desk.keyboard.press("a");
  await desk.getByText("Nothing waits for approval.").waitFor();

  await own.reload();
  await expect(stateOf(own)).toHaveText("running");
  await expect(own.getByLabel("Price of a click")).toHaveValue("0.02");
  await own.context().close();
});

test("another landing page of an approved campaign stops it until it is approved again, and the price is only raised", {
  tag: "@long",
}, async ({ desk, stack, browser }) => {
  const own = await openAsAdvertiser(browser, stack);
  await draft(own, "Summer books");
  await own.getByRole("button", { name: "Submit for approval" }).click();
  await expect(stateOf(own)).toHaveText("waits for approval");
  await desk.goto(new URL("/console/approval/campaigns", desk.url()).href);
  await desk.getByRole("heading", { name: "Summer books" }).waitFor();
  await desk.getByRole("button", { name: "Approve" }).click();
  await desk.getByText("Nothing waits for approval.").waitFor();
  await own.reload();
  await expect(stateOf(own)).toHaveText("running");
  await own.getByLabel("Price of a click").fill("0.005");
  await own.getByRole("button", { name: "Save", exact: true }).click();
  await expect(own.getByText("You can only raise it; ask the operator to lower it.").first()).toBeVisible();
  await own.getByLabel("Price of a click").fill("0.01");
  await own.getByLabel("Landing page").fill("https://lily.example/other");
  await own.getByRole("button", { name: "Save", exact: true }).click();
  const dialog = own.getByRole("dialog");
  await expect(dialog).toContainText("not shown until an operator has approved it");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(stateOf(own)).toHaveText("waits for approval");
  await own.context().close();
});

test("in Russian, a draft is made and decided about on a phone", { tag: "@long" }, async ({ stack, browser }) => {
  const own = await openAsAdvertiser(browser, stack, "ru");
  await own.goto(new URL("/console/campaigns/new", own.url()).href);
  await own.getByLabel("Название", { exact: true }).fill("Осень");
  await own.getByRole("button", { name: "Сохранить черновик" }).click();
  await expect(stateOf(own)).toHaveText("черновик");
  await own.getByRole("button", { name: "Отправить на одобрение" }).click();
  // A campaign of videos has one.
  await expect(own.locator(".fault").first()).toBeVisible();
  expect((await analyze(own)).violations).toEqual([]);
  const width = await own.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(360);
  await own.context().close();
});
