import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { analyze } from "./axe.ts";
import { expect, test, windows } from "./console.ts";

test.describe.configure({ mode: "default" });
// A stack of its own: it pays everybody, and sets the least payout of all.
test.use({ adServiceEnv: { LOG_LEVEL: "warn" } });

const BOT = "9000000077";
const SHOP = "Ledger Books";

/** A publisher that earned in a month that is over, and an advertiser. */
test.beforeAll(async ({ stack }) => {
  await stack.ads(["bots", "add", "--bot-id", BOT, "--name", "Crosswords", "--json"]);
  await stack.ads(["advertisers", "add", SHOP, "--json"]);
  await prepare(stack);
});

async function prepare({ dataDirectory }: DemoStack): Promise<void> {
  const database = await openDatabase({ dataDirectory, schema: "ad_service", migrations });
  const run = (text: string) => database.run({ name: "", text }, []);
  await run(`with made as (insert into money_transactions (transaction_id) values ('charge of bookkeeping'))
    insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
    values ('charge of bookkeeping', 'publisher:${BOT}', 'charge', 12340000, 'USD', '2026-01-20'),
      ('charge of bookkeeping', 'revenue', 'charge', -12340000, 'USD', '2026-01-20')`);
  await database.close();
}

/** For whoever wants to look at them. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
}

test("a payee with a wrong account is refused; all that is due is paid in one step, and makes a file for the bank", {
  tag: "@long",
}, async ({ desk, stack }) => {
  await desk.goto("payouts?month=2026-01");
  await desk.getByRole("button", { name: "Payee of Crosswords: not set" }).click();
  await desk.getByLabel("Name", { exact: true }).fill("Crossword Studio");
  await desk.getByLabel("IBAN").fill("NL91 ABNA 0417 1643 01");
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await expect(desk.getByRole("alert").filter({ hasText: "right check digits" })).toBeVisible();
  await look(desk, "payee");
  await desk.getByLabel("IBAN").fill("nl91 abna 0417 1643 00");
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await expect(desk.getByRole("button", { name: "Payee of Crosswords: known" })).toBeVisible();
  await desk.getByRole("button", { name: "Your details" }).click();
  await desk.getByLabel("Name", { exact: true }).fill("Rewards Ltd");
  await desk.getByLabel("Least payout").fill("10");
  await look(desk, "details");
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await expect(desk.getByRole("dialog")).toHaveCount(0);
  await desk.getByRole("button", { name: "Pay all", exact: true }).click();
  await expect(desk.getByRole("dialog")).toContainText("$12.34, everything owed until the end of January 2026");
  await look(desk, "pay-all");
  await desk.getByRole("button", { name: "Record 1 payout" }).click();
  await expect(desk.getByText("1 payout of $12.34 is recorded.")).toBeVisible();
  const file = desk.waitForEvent("download");
  await desk.getByRole("link", { name: "CSV of the payouts of January 2026" }).click();
  const csv = await readFile(await (await file).path(), "utf8");
  expect(csv).toContain(`2026-01,${BOT},Crossword Studio,NL91ABNA0417164300,12.34,USD,Payout 2026-01,2026-01-${BOT}`);
  const [run] = JSON.parse(await stack.ads(["money", "runs", "--json"]));
  // Without the mark of its encoding, which is for spreadsheets.
  expect(await stack.ads(["money", "run-file", run.runId, "--format", "csv"])).toBe(csv.replace("\uFEFF", ""));
  await look(desk, "runs");
  await desk.getByRole("button", { name: "Payee of Crosswords" }).waitFor();
});

test("the file of another month has its figures and its name, also while the page still shows the month before", {
  tag: "@long",
}, async ({ desk }) => {
  await desk.goto("payouts?month=2026-01");
  await desk.getByRole("link", { name: "Crosswords" }).waitFor();
  const going = Promise.withResolvers<void>();
  await desk.route(/money\/publishers\?.*limit=50/, async (route) => {
    await going.promise;
    await route.continue();
  });
  await desk.getByLabel("Month", { exact: true }).selectOption("2026-02");
  const file = desk.waitForEvent("download");
  await desk.getByRole("button", { name: "Save as CSV" }).click();
  const download = await file;
  going.resolve();
  expect(download.suggestedFilename()).toBe("payouts-2026-02.csv");
  expect(await readFile(await download.path(), "utf8")).toMatch(new RegExp(`^2026-02,${BOT},Crosswords,0,`, "m"));
});

test("what an advertiser's statements say of it is kept", { tag: "@long" }, async ({ desk, stack }) => {
  await desk.goto("advertisers");
  await desk.getByRole("link", { name: SHOP }).click();
  await desk.getByRole("button", { name: "Details", exact: true }).click();
  await desk.getByLabel("Address").fill("1 High Street, Dublin");
  await desk.getByLabel("Language of statements").selectOption({ label: "Русский" });
  await look(desk, "party");
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await expect(desk.getByRole("dialog")).toHaveCount(0);
  const party = JSON.parse(await stack.ads(["money", "party", SHOP, "--json"]));
  expect(party).toMatchObject({ address: "1 High Street, Dublin", language: "ru" });
});

for (const { name, size } of windows) {
  for (const [locale, title, unread, mark] of [
    ["en-US", "Notices", /^Notices, \d+ unread$/, "Mark all as read"],
    ["ru-RU", "Уведомления", /^Уведомления, \d+ нов/, "Отметить всё прочитанным"],
  ] as const) {
    test.describe(`in the window of a ${name}, ${locale}`, { tag: "@long" }, () => {
      test.use({ window: size, locale, colorScheme: locale === "ru-RU" ? "dark" : "light" });

      test("the bell counts what is unread, and leads to it; it is marked as read at once", async ({
        reader,
        stack,
      }) => {
        const { page } = reader;
        await tellOwner(stack);
        await reader.open();
        await reader.click(page.getByRole("link", { name: unread }));
        await expect(page.getByRole("heading", { name: title, level: 1 })).toBeVisible();
        await expect(page.getByRole("row").filter({ hasText: "Crosswords" }).first()).toBeVisible();
        await look(page, `alerts-${name}-${locale}`);
        expect((await analyze(page)).violations).toEqual([]);
        await reader.click(page.getByRole("button", { name: mark }));
        await expect(page.getByRole("link", { name: title, exact: true })).toBeVisible();
        expect(reader.steps).toBe(2);
        await page.goto("account");
        await page.getByRole("table").last().scrollIntoViewIfNeeded();
        await look(page, `alert-settings-${name}-${locale}`);
        await page.goto("payouts?month=2026-01");
        await page.getByRole("table").last().waitFor();
        await look(page, `payouts-${name}-${locale}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(width).toBeLessThanOrEqual(size.width);
      });
    });
  }
}

/** The reader's person is made with the reader. */
async function tellOwner({ dataDirectory }: DemoStack): Promise<void> {
  const database = await openDatabase({ dataDirectory, schema: "ad_service", migrations });
  const text = `insert into alerts (person_id, cause, object_id, facts, made_at)
    select person_id, cause, '', facts::jsonb, now() from people cross join (values
      ('webhooks-failing', '{"name": "Crosswords"}'), ('videos-waiting', '{"count": "2"}'),
      ('new-device', '{"browser": "Firefox, Linux, 192.0.2.1"}')) as made (cause, facts) where role = 'owner'`;
  await database.run({ name: "", text }, []);
  await database.close();
}

test("of what one is told is chosen on the own page, and kept", { tag: "@long" }, async ({ desk }) => {
  await desk.goto("account");
  const box = desk.getByRole("checkbox", { name: "Webhooks fail: Here" });
  await expect(box).toBeChecked();
  await box.uncheck();
  await desk.locator("#alerts").getByRole("button", { name: "Save" }).click();
  await expect(desk.getByText("Saved.")).toBeVisible();
  await desk.reload();
  await expect(desk.getByRole("checkbox", { name: "Webhooks fail: Here" })).not.toBeChecked();
});
