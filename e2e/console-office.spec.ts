import { readFile } from "node:fs/promises";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { expect, test, windows } from "./console.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default" });

const COFFEE = "Harbour Roasters";
let coffeeId: string;

/** An advertiser with a campaign, and with a statement of a month that is over. */
test.beforeAll(async ({ stack }) => {
  const campaign = ["--advertiser", COFFEE, "--name", "House roast", "--format", "direct_link", "--bots", "9000000002"];
  await stack.ads(["bots", "add", "--bot-id", "9000000002", "--name", "Word Game", "--json"]);
  const landing = ["--landing-url", `${stack.urls.demoBot}/landing`, "--click-price", "0.08", "--billing", "credit"];
  await stack.ads(["campaigns", "add", ...campaign, ...landing, "--json"]);
  const advertisers = JSON.parse(await stack.ads(["advertisers", "list", "--json"]));
  coffeeId = advertisers.find(({ name }: { name: string }) => name === COFFEE).advertiserId;
  await issueStatement(stack);
});

/** As of a month that is over, which the test's run cannot wait for. */
async function issueStatement({ dataDirectory }: DemoStack): Promise<void> {
  const database = await openDatabase({ dataDirectory, schema: "ad_service", migrations });
  const text = `insert into money_statements (number, account, month, name, currency, opening_micros, closing_micros, lines, issued_at)
    values (1, 'advertiser:' || $1, '2026-01-01', $2, 'USD', 0, 24900000, $3, now())`;
  const lines = [
    { kind: "top_up", at: "2026-01-05T10:00:00Z", reference: "INV-7", note: '=1, "half"', amount: "25000001" },
    { kind: "charge", at: null, reference: null, note: null, amount: "-100001" },
  ];
  await database.run({ name: "", text }, [coffeeId, COFFEE, JSON.stringify(lines)]);
  await database.close();
}

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ window: size });

    test("what an advertiser has left and last month's statement are three clicks away", async ({ reader, stack }) => {
      const { page } = reader;
      await reader.open();
      await reader.click(reader.section("Advertisers"));
      await reader.click(page.getByRole("link", { name: COFFEE }));
      await expect(page.getByText("Left to spend")).toBeVisible();
      const opened = page.waitForEvent("popup");
      await reader.click(page.getByRole("link", { name: "Read or print the statement of January 2026" }));
      await expect((await opened).getByText("INV-7")).toBeVisible();
      expect(reader.steps).toBeLessThanOrEqual(3);
      const file = page.waitForEvent("download");
      await page.getByRole("link", { name: "CSV of the statement of January 2026" }).click();
      expect((await file).suggestedFilename()).toBe("statement-1.csv");
      // To the byte, the command line has the same.
      const csv = await readFile(await (await file).path(), "utf8");
      expect(csv).toBe(await stack.ads(["money", "statements", "--advertiser", coffeeId, "--csv", "1"]));
      const amounts = csv.split("\r\n").map((line) => line.split(",").at(-2));
      expect(amounts).toEqual(["amount", "0.00", "25.00", "-0.10", "24.90", undefined]);
      const printed = (await opened).locator("td.amount");
      await expect(printed).toHaveText(["0.00", "25.00", "-0.10", "24.90"]);
      await expect(page.getByRole("row").filter({ hasText: "January 2026" })).toContainText("$24.90");
    });

    test("all campaigns of an advertiser are stopped in three clicks, and Undo lets them run again", async ({
      reader,
      stack,
    }) => {
      const { page } = reader;
      const stateOf = async () => {
        const advertisers = JSON.parse(await stack.ads(["advertisers", "list", "--json"]));
        return advertisers.find(({ name }: { name: string }) => name === COFFEE).state;
      };
      await reader.open();
      await reader.click(reader.section("Advertisers"));
      await reader.click(page.getByRole("link", { name: COFFEE }));
      await reader.click(page.getByRole("button", { name: "Stop all campaigns" }));
      await expect(page.getByText("All campaigns of Harbour Roasters have stopped.")).toBeVisible();
      expect(reader.steps).toBeLessThanOrEqual(3);
      expect(await stateOf()).toBe("archived");
      await page.getByRole("button", { name: "Undo" }).click();
      await expect(page.getByText("The active campaigns of Harbour Roasters run again.")).toBeVisible();
      expect(await stateOf()).toBe("active");
    });

    test("who changed a campaign is three clicks from the change being taken back", async ({ reader, stack }) => {
      const { page } = reader;
      const campaign = async () => {
        const campaigns = JSON.parse(await stack.ads(["campaigns", "list", "--json"]));
        return campaigns.find(({ name }: { name: string }) => name === "House roast");
      };
      const { campaignId } = await campaign();
      await stack.ads(["campaigns", "update", campaignId, "--daily-budget", "30", "--yes"]);
      await reader.open();
      await reader.click(reader.section("Audit trail"));
      await reader.click(page.getByRole("button", { name: "Changed a campaign" }).first());
      await expect(page.getByRole("row").filter({ hasText: "Daily budget" })).toContainText("30");
      await expect(page.getByRole("dialog")).toContainText("command line");
      await reader.click(page.getByRole("button", { name: "Revert" }));
      await expect(page.getByText("The values from before are back.")).toBeVisible();
      expect(reader.steps).toBeLessThanOrEqual(3);
      expect((await campaign()).dailyBudgetMicros).toBe(null);
      await expect(page.getByRole("button", { name: "Reverted a change of a campaign" })).toBeVisible();
    });
  });
}

test("a top-up is recorded once: the balance is the server's, and a reference that is known needs a confirmation", async ({
  desk,
  stack,
}) => {
  await desk.getByRole("link", { name: "Advertisers", exact: true }).click();
  const topUp = async (amount: string) => {
    await desk.getByRole("button", { name: `Top up ${COFFEE}` }).click();
    await desk.getByLabel("Amount", { exact: true }).fill(amount);
    await desk.getByLabel("Reference").fill("INV-8");
    await desk.getByRole("button", { name: "Record it" }).click();
  };
  await topUp("12,50");
  await expect(desk.getByRole("alert").filter({ hasText: "write 12.50" })).toBeVisible();
  await desk.getByRole("button", { name: "Cancel" }).click();
  await topUp("12.50");
  const row = desk.getByRole("row").filter({ hasText: COFFEE });
  await expect(row).toContainText("$12.50");
  await topUp("12.50");
  await expect(desk.getByText("stands on a top-up of Harbour Roasters already")).toBeVisible();
  await desk.keyboard.press("Escape");
  await desk.keyboard.press("Escape");
  const money = JSON.parse(await stack.ads(["money", "list", "--json"]));
  expect(money.find(({ name }: { name: string }) => name === COFFEE).balanceMicros).toBe(12_500_000);
});

test("a person is invited with a link that is shown once, gets another role, and is disabled with Undo", async ({
  desk,
}) => {
  await desk.getByRole("link", { name: "People", exact: true }).click();
  await desk.getByRole("button", { name: "Invite a person" }).click();
  await expect(desk.getByLabel("E-mail address", { exact: true })).toBeFocused();
  await desk.getByLabel("E-mail address", { exact: true }).fill("ann@demo.example");
  await desk.getByLabel("Role", { exact: true }).selectOption({ value: "advertiser" });
  await desk.getByRole("button", { name: "Invite", exact: true }).click();
  await expect(desk.getByText("Is needed for the role")).toBeVisible();
  await desk.getByLabel("Advertiser", { exact: true }).selectOption({ label: COFFEE });
  await desk.getByRole("button", { name: "Invite", exact: true }).click();
  await expect(desk.getByText("/console/invitation#")).toBeVisible();
  await desk.keyboard.press("Escape");
  const row = desk.getByRole("row").filter({ hasText: "ann@demo.example" });
  await expect(row).toContainText("invited");
  const actions = row.getByRole("button", { name: "Actions: ann@demo.example" });
  await actions.click();
  await row.getByRole("button", { name: "Role of ann@demo.example" }).click();
  await desk.getByLabel("Role", { exact: true }).selectOption({ value: "publisher" });
  await desk.getByRole("checkbox", { name: "Word Game (9000000002)" }).check();
  await desk.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("9000000002");
  await expect(actions).toBeFocused();
  await desk.keyboard.press("Enter");
  await row.getByRole("button", { name: "Disable ann@demo.example" }).click();
  await expect(row).toContainText("disabled");
  await desk.getByRole("button", { name: "Undo" }).click();
  await expect(row).toContainText("invited");
});

/** Charges of a month that is over, which the test's run cannot wait for. */
async function earnInJanuary({ dataDirectory }: DemoStack): Promise<void> {
  const database = await openDatabase({ dataDirectory, schema: "ad_service", migrations });
  const text = `with made as (insert into money_transactions (transaction_id) values ('charge of the test'))
    insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
    select 'charge of the test', account, 'charge', amount, 'USD', '2026-01-20'
    from unnest(array['advertiser:' || $1, 'publisher:9000000002', 'revenue'], array[-10000000, 7000000, 3000000])
      as entry (account, amount)`;
  await database.run({ name: "", text }, [coffeeId]);
  await database.close();
}

test("a payout is recorded with its reference once it is made, and the publisher's page shows it", async ({
  desk,
  stack,
}) => {
  await earnInJanuary(stack);
  await desk.getByRole("link", { name: "Payouts", exact: true }).click();
  await desk.getByLabel("Month").selectOption({ value: "2026-01" });
  const row = desk.getByRole("row").filter({ hasText: "Word Game" });
  await expect(row).toContainText("$7.00");
  await row.getByRole("button", { name: "Mark Word Game as paid" }).click();
  await expect(desk.getByRole("dialog")).toContainText("$7.00 was paid");
  await desk.getByRole("button", { name: "Record the payout" }).click();
  await expect(desk.getByRole("alert").filter({ hasText: "Must not be empty." })).toBeVisible();
  await desk.getByLabel("Reference").fill("SEPA 4711");
  await desk.getByRole("button", { name: "Record the payout" }).click();
  await expect(desk.getByText("A payout of $7.00 is recorded.")).toBeVisible();
  await expect(row).toContainText("SEPA 4711");
  await expect(row.getByRole("button", { name: "Mark Word Game as paid" })).toHaveCount(0);
  const file = desk.waitForEvent("download");
  await desk.getByRole("button", { name: "Save as CSV" }).click();
  expect((await file).suggestedFilename()).toBe("payouts-2026-01.csv");
  await desk.getByRole("link", { name: "Word Game" }).click();
  await expect(desk.getByRole("row").filter({ hasText: "January 2026" })).toContainText("SEPA 4711");
});

test("who keeps the accounts tops up, pays out and reads reports, and sees no campaigns", { tag: "@long" }, async ({
  browser,
  stack,
}) => {
  const email = `finance${Date.now()}@demo.example`;
  await stack.ads(["people", "add", email, "--role", "finance"]);
  const { link } = JSON.parse(await stack.ads(["people", "sign-in-link", email, "--json"]));
  const page = await browser.newPage({ isMobile: false, viewport: { width: 1280, height: 800 } });
  const refused: string[] = [];
  page.on("response", (answer) => {
    if (answer.status() === 403) refused.push(answer.url());
  });
  await page.goto(link);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const menu = page.getByRole("navigation", { name: "Sections" }).filter({ visible: true });
  const sections = ["Publisher", "Reports", "Advertisers", "Payouts", "Filing (Russia)"];
  await expect(menu.getByRole("link")).toHaveText(["Overview", ...sections]);
  for (const name of [...sections.toReversed(), "Advertisers"]) {
    await menu.getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
  }
  await page.getByRole("link", { name: COFFEE }).click();
  await page.getByRole("button", { name: "Top up", exact: true }).click();
  await page.getByRole("dialog").getByLabel("Amount").fill("12");
  await page.getByRole("dialog").getByLabel("Reference").fill("INV-12");
  await page.getByRole("dialog").getByRole("button", { name: "Record it" }).click();
  await expect(page.getByRole("cell", { name: "INV-12" })).toBeVisible();
  expect(refused).toEqual([]);
  await page.close();
});

test("the system shows the node with its version and the settings in force, and no secret", { tag: "@long" }, async ({
  desk,
  stack,
}) => {
  await desk.getByRole("link", { name: "System", exact: true }).click();
  const nodes = desk.getByRole("table", { name: "Nodes" });
  await expect(nodes.getByRole("row")).toHaveCount(2, { timeout: 40_000 });
  const settings = desk.getByRole("table", { name: "Settings in force" });
  await expect(settings.getByRole("row").filter({ hasText: "PUBLIC_URL" })).toContainText(stack.urls.adService);
  await expect(settings.getByRole("row").filter({ hasText: "OPERATOR_TOKEN" })).toContainText("set");
  const shown = await desk.content();
  for (const secret of [stack.secrets.operatorToken, stack.secrets.encryptionKey]) expect(shown).not.toContain(secret);
});

test("a new campaign warns of a new advertiser and an unknown macro, and its draft survives leaving the page", {
  tag: "@long",
}, async ({ desk }) => {
  const address = new URL("/console/campaigns/new", desk.url()).href;
  await desk.goto(address);
  await desk.getByLabel("Advertiser").fill("harbour  roasters");
  await desk.getByLabel("Landing page").fill("https://shop.test/?c={click_id}&x={{clickid}}");
  await expect(desk.getByText("{{clickid}} is no macro and is sent as it stands.")).toBeVisible();
  await expect(desk.getByText("is a new advertiser")).toHaveCount(0);
  await desk.getByLabel("Advertiser").fill("Harbour Tea");
  await expect(
    desk.getByText("Harbour Tea is a new advertiser, with reports and an account of its own."),
  ).toBeVisible();
  await desk.getByRole("link", { name: "Bots", exact: true }).click();
  await desk.goto(address);
  await expect(desk.getByRole("status").filter({ hasText: "What you typed before is back" })).toBeVisible();
  await expect(desk.getByLabel("Advertiser")).toHaveValue("Harbour Tea");
  await desk.getByRole("button", { name: "Discard the draft" }).click();
  await expect(desk.getByLabel("Advertiser")).toHaveValue("");
  await desk.goto(address);
  await expect(desk.getByLabel("Advertiser")).toHaveValue("");
});

test("a window keeps its language while another one gets a different one, whose words may fail to load", {
  tag: "@long",
}, async ({ desk }) => {
  const other = await desk.context().newPage();
  await other.goto("");
  await other.getByRole("heading", { name: "Overview" }).waitFor();
  const first = await (await other.request.get("")).text();
  const hasFirst = (file: string) => first.includes(new URL(file).pathname);
  const cutOff = () =>
    other.route(/\.js$/, (route) => (hasFirst(route.request().url()) ? route.continue() : route.abort()));
  const account = other.locator(".side-body .account");
  await account.locator("summary").click();
  await cutOff();
  await account.getByRole("button", { name: "Русский" }).click();
  await expect(other.getByText("The ad service does not answer.")).toBeVisible();
  await expect(other.getByRole("heading", { name: "Overview" })).toBeVisible();
  await other.unroute(/\.js$/);
  await account.getByRole("button", { name: "Русский" }).click();
  await expect(other.getByRole("heading", { name: "Обзор" })).toBeVisible();

  await desk.getByRole("link", { name: "Audit trail", exact: true }).click();
  await expect(desk.getByRole("heading", { name: "Audit trail" })).toBeVisible();
  await expect(desk.getByLabel("Object id")).toBeVisible();

  await cutOff();
  await other.reload();
  await expect(other.getByText("Сервис рекламы не отвечает.")).toBeVisible();
  await other.unroute(/\.js$/);
  await other.getByRole("button", { name: "Повторить" }).click();
  await expect(other.getByRole("heading", { name: "Обзор" })).toBeVisible();
  await other.close();
});

test.describe("in Russian", () => {
  test.use({ locale: "ru-RU" });
  test("a refusal of the server is said in the reader's language, with its values", async ({ desk }) => {
    await desk.getByRole("link", { name: "Рекламодатели", exact: true }).click();
    await desk.getByRole("button", { name: "Добавить рекламодателя" }).click();
    await desk.getByLabel("Название, которое видят зрители").fill("harbour roasters");
    await desk.getByRole("button", { name: "Добавить", exact: true }).click();
    await expect(desk.getByText("Рекламодатель harbour roasters уже есть")).toBeVisible();
  });

  test.describe("in forms", () => {
    test.use({ refusal: 400 });
    test("what is wrong with a field is said in the reader's language, in a form and in an answer of the server", async ({
      desk,
    }) => {
      await desk.goto(new URL("/console/campaigns/new", desk.url()).href);
      await desk.getByLabel("Цена просмотра").fill("1e3");
      await desk.getByRole("button", { name: "Создать", exact: true }).click();
      await expect(desk.getByText("Заполните это поле.")).toHaveCount(2);
      await expect(desk.getByLabel("Название", { exact: true })).toBeFocused();
      await expect(desk.getByText(/^Сумма от 0 до 1000000000: напишите 1000\.$/)).toBeVisible();
      await desk.goto(new URL("/console/campaigns", desk.url()).href);
      await desk.getByRole("link", { name: "Harbour" }).first().click();
      await desk.getByLabel("Начало").fill("2031-02-01T10:00");
      await desk.getByLabel("Окончание").fill("2031-01-01T10:00");
      await desk.getByRole("button", { name: "Сохранить" }).click();
      await expect(desk.getByText("Конец должен быть позже начала.").first()).toBeVisible();
      await desk.getByLabel("Начало").fill("");
      await desk.getByLabel("Окончание").fill("2026-01-01T10:00");
      await desk.getByRole("button", { name: "Сохранить" }).click();
      await expect(
        desk.getByRole("dialog").getByText("уже в прошлом, поэтому кампания закончится сейчас"),
      ).toBeVisible();
    });
  });
});

test("terms that another person has set meanwhile are not overwritten", { tag: "@long" }, async ({ desk, stack }) => {
  const billing = async () => {
    const { billing, creditLimitMicros } = JSON.parse(await stack.ads(["money", "show", COFFEE, "--json"]));
    return [billing, creditLimitMicros];
  };
  await desk.goto(`advertisers/${coffeeId}`);
  await desk.getByRole("button", { name: "Terms" }).click();
  const dialog = desk.getByRole("dialog");
  await dialog.getByLabel("Billing").selectOption("credit");
  await dialog.getByLabel("Credit limit").fill("500");
  await stack.ads(["money", "terms", COFFEE, "credit", "--limit", "20"]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(desk.getByText("Nothing is saved: another person has changed the terms")).toBeVisible();
  expect(await billing()).toEqual(["credit", 20_000_000]);
  await desk.keyboard.press("Escape");
  await desk.getByRole("button", { name: "Terms" }).click();
  await expect(dialog.getByLabel("Credit limit")).toHaveValue("20");
  await dialog.getByLabel("Credit limit").fill("500");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  expect(await billing()).toEqual(["credit", 500_000_000]);
});
