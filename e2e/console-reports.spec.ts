import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { analyze } from "./axe.ts";
import { expect, test, windows } from "./console.ts";
import { newAddress, newCode } from "./stack.ts";

test("a report is split by bot and compared in three steps, its address is the report, and its CSV file has its rows", {
  tag: "@long",
}, async ({ desk, stack, api, userId }) => {
  const { directLink } = await newCode(api, userId);
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": newAddress() };
  expect((await fetch(directLink, { redirect: "manual", headers })).status).toBe(302);
  const clicks = async () =>
    JSON.parse(await stack.ads(["stats", "--by", "bot", "--json"])).rows.reduce(
      (sum: number, row: { clicks: number }) => sum + row.clicks,
      0,
    );
  await expect.poll(clicks, { timeout: 20_000 }).toBe(1);

  await desk.getByRole("link", { name: "Reports", exact: true }).filter({ visible: true }).click();
  await desk.getByLabel("By", { exact: true }).selectOption("Bot");
  await desk.getByLabel("Compare with").selectOption("The range before");
  const row = desk.getByRole("row").filter({ hasText: "Coin Garden" });
  await expect(row.locator("[data-figure=clicks]")).toHaveText("1");
  await expect(desk.getByText("Compared with")).toBeVisible();
  // The picture of the table: bars of objects, lines of days.
  await expect(desk.locator(".bars li").filter({ hasText: "Coin Garden" })).toBeVisible();
  await desk.getByLabel("Figure of the chart").selectOption("Clicks");
  await expect(desk.locator(".bars li").filter({ hasText: "Coin Garden" }).locator(".number")).toHaveText("1");
  expect((await analyze(desk)).violations).toEqual([]);
  await desk.reload();
  await expect(row).toBeVisible();
  await expect(desk.getByLabel("Figure of the chart")).toHaveValue("clicks");
  const file = desk.waitForEvent("download");
  await desk.getByRole("link", { name: "CSV" }).click();
  const [heading = "", table = ""] = (await readFile(await (await file).path(), "utf8")).split("\r\n\r\n");
  const zone = await desk.getByLabel("Time zone", { exact: true }).inputValue();
  expect(heading.split("\r\n")).toContain(`timeZone,${zone}`);
  expect((await file).suggestedFilename()).toMatch(/^report_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d_[\w-]+\.csv$/);
  const lines = table.trim().split("\r\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("Coin Garden");
  await desk.getByLabel("By time").selectOption("Days");
  await expect.poll(() => paintedPixels(desk)).toBeGreaterThan(500);
  // Today is not over, so its line is dashed.
  await expect(desk.locator(".legend li")).toHaveText(["Coin Garden", "Not over yet"]);

  await desk.getByRole("link", { name: "Overview", exact: true }).filter({ visible: true }).click();
  await desk.getByRole("term").getByRole("link", { name: "Clicks" }).click();
  await expect(desk.getByLabel("Figure of the chart")).toHaveValue("clicks");
  await expect(desk.getByLabel("By time")).toHaveValue("hour");
  // Of the last 24 hours, which began yesterday.
  await expect(desk.getByLabel("From")).not.toHaveValue(await desk.getByLabel("To").inputValue());
  await expect(desk.locator("tfoot [data-figure=clicks]")).toHaveText("1");
});

test("a range, a zone by its city, columns and a row are chosen in place, and the columns stay", async ({
  reader,
  stack,
  api,
  userId,
}) => {
  const { page } = reader;
  await clickOnce(stack, (await newCode(api, userId)).directLink);
  await reader.open("reports");
  const ranges = page.getByRole("group", { name: "Range" });
  await expect(ranges.getByRole("button", { name: "7 days" })).toHaveAttribute("aria-pressed", "true");
  await ranges.getByRole("button", { name: "Today" }).click();
  await expect(page.getByLabel("By time")).toHaveValue("hour");
  await expect(page.getByLabel("From")).toHaveValue(await page.getByLabel("To").inputValue());
  await ranges.getByRole("button", { name: "28 days" }).click();
  const zone = page.getByRole("combobox", { name: "Time zone" });
  await zone.fill("kolk");
  await expect(page.getByRole("option", { name: "Asia/Kolkata" })).toBeVisible();
  await zone.press("Enter");
  await expect(zone).toHaveValue("Asia/Kolkata");
  // Today is marked where it stands.
  await expect(page.locator("tr.unfinished")).toContainText("Not over yet");

  await page.getByLabel("By time").selectOption("Not split");
  await page.getByLabel("By", { exact: true }).selectOption("Bot");
  await page.getByLabel("And by").selectOption("Platform");
  const row = page.getByRole("row").filter({ hasText: "Coin Garden" }).filter({ hasText: "Android" });
  await expect(row.locator("[data-figure=clicks]")).not.toHaveText("0");
  await page.getByRole("button", { name: "View" }).click();
  await page.getByRole("checkbox", { name: "Spend" }).uncheck();
  await page.getByRole("checkbox", { name: "Button clicks" }).check();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("columnheader").first()).toBeVisible();
  await row.getByRole("link", { name: "Coin Garden" }).click();
  await expect(page).toHaveURL(/[?&]bot=\d+/);
  await expect(page).toHaveURL(/[?&]platform=android/);
  await expect(page.getByLabel("By", { exact: true })).toHaveValue("");
  await page.getByRole("button", { name: "Not only Platform: Android" }).click();
  await expect(page).not.toHaveURL(/platform=/);
  await page.getByLabel("Figure of the chart").selectOption("Funnel");
  await expect(page.locator(".funnel li")).toHaveCount(10);
  await page.getByLabel("Figure of the chart").selectOption("Revenue per user");
  await expect(page.locator(".facts").getByText("Days of use")).toBeVisible();
  expect((await analyze(page)).violations).toEqual([]);

  await reader.open("reports");
  await expect(page.getByRole("columnheader", { name: "Button clicks" })).toBeVisible();
  await expect(page.getByRole("columnheader", { name: "Spend" })).toHaveCount(0);
});

/** Follows a direct link, and waits until the click is counted. */
async function clickOnce({ ads }: DemoStack, directLink: string): Promise<void> {
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": newAddress() };
  const clicks = async (): Promise<number> => JSON.parse(await ads(["stats", "--json"])).total.clicks;
  const before = await clicks();
  expect((await fetch(directLink, { redirect: "manual", headers })).status).toBe(302);
  await expect.poll(clicks).toBeGreaterThan(before);
}

/** How many pixels of the chart's canvas are not empty. */
async function paintedPixels(page: Page): Promise<number> {
  const canvas = page.locator(".plot canvas");
  if ((await canvas.count()) === 0) return 0;
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const pixels = element.getContext("2d")?.getImageData(0, 0, element.width, element.height).data ?? [];
    return pixels.filter((value, index) => index % 4 === 3 && value > 0).length;
  });
}

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ window: size, timezoneId: "Asia/Tehran" });

    test("a report is saved under a name, opens again as it was, and is removed with Undo; others have their own", {
      tag: "@long",
    }, async ({ reader, stack }) => {
      const { page } = reader;
      await reader.open("reports?time=day&by=bot&compare=weekdays");
      // Who gets this address has the same days, in whatever zone.
      await expect(page).toHaveURL(/[?&]zone=Asia%2FTehran(&|$)/);
      await page.getByRole("button", { name: "Save this report" }).click();
      await page.getByLabel("Name").fill("Bots by day");
      await page.keyboard.press("Enter");
      const saved = page.getByRole("navigation", { name: "Saved reports" });
      const link = saved.getByRole("link", { name: "Bots by day" });
      await expect(link).toHaveAttribute("aria-current", "page");
      await expect(saved.getByRole("button", { name: "Save this report" })).toHaveCount(0);

      await reader.open("reports");
      await expect(link).not.toHaveAttribute("aria-current", "page");
      await link.click();
      await expect(page.getByLabel("By", { exact: true })).toHaveValue("bot");
      await expect(page.getByLabel("Compare with")).toHaveValue("weekdays");
      const { searchParams } = new URL(page.url());
      const address = { zone: "Asia/Tehran", time: "day", by: "bot", compare: "weekdays", columns: "usual" };
      expect(Object.fromEntries(searchParams)).toEqual(address);

      await saved.getByRole("button", { name: "Remove Bots by day" }).press("Enter");
      await expect(link).toHaveCount(0);
      await expect(saved).toBeFocused();
      await page.getByRole("button", { name: "Undo" }).click();
      await expect(link).toBeVisible();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      expect((await analyze(page)).violations).toEqual([]);
      await page.screenshot({ path: test.info().outputPath("saved.png") });
      const entries = JSON.parse(await stack.ads(["audit", "list", "--json"]));
      expect(entries.slice(0, 3).map(({ operation }: { operation: string }) => operation)).toEqual([
        "saveReport",
        "removeSavedReport",
        "saveReport",
      ]);
      await saved.getByRole("button", { name: "Remove Bots by day" }).click();
      await expect(link).toHaveCount(0);
    });
  });
}

test.describe("an address with values that the lists do not offer", { tag: "@long" }, () => {
  test.use({ refusal: 404, timezoneId: "Asia/Kolkata" });

  test("is a report whose selects show them, so that they can be changed", async ({ desk }) => {
    // Browsers name this zone Asia/Calcutta.
    await desk.goto("reports?zone=Asia/Kolkata&campaign=cmp_gone&time=day");
    await expect(desk.getByLabel("Time zone", { exact: true })).toHaveValue("Asia/Kolkata");
    await expect(desk.getByText("There is nothing here")).toBeVisible();
    const campaign = desk.getByLabel("Campaign");
    await expect(campaign).toHaveValue("cmp_gone");
    await campaign.selectOption("All campaigns");
    await expect(desk.getByText("There is nothing here")).toHaveCount(0);
    expect(new URL(desk.url()).searchParams.get("zone")).toBe("Asia/Kolkata");
    await desk.goto("campaigns?advertiser=Nobody%20Any%20More");
    await expect(desk.getByLabel("Advertiser")).toHaveValue("Nobody Any More");
  });
});
