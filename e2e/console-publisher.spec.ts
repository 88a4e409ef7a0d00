import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SIGNATURE_TEST_USER_AGENT } from "@intermission/ad-core/webhook-refusal";
import { analyze } from "./axe.ts";
import { expect, test, windows } from "./console.ts";

const BOT = "9000000004";
const PUBLISHER = "chess@example.com";

test.use({ signedInAs: PUBLISHER });
// One worker, so that one stack is started.
test.describe.configure({ mode: "default" });

/** The publisher's address: it answers with this status and text. */
const receiver = { status: 500, received: [] as string[], url: "", close: async () => {} };
let token: string;
let users = 700;

test.beforeAll(async ({ stack: { ads, urls } }) => {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    // As a receiver that verifies does.
    if (request.headers["user-agent"] === SIGNATURE_TEST_USER_AGENT) return void response.writeHead(401).end();
    receiver.received.push(String(request.headers["x-event-id"] ?? ""));
    response.writeHead(receiver.status).end(receiver.status === 500 ? "database is read-only" : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  receiver.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const bot = ["--bot-id", BOT, "--name", "Sudoku Club", "--suspicious-clicks", "pay", "--cooldown", "0"];
  const webhooks = ["--webhook-url", receiver.url, "--delivery-mode", "at-most-once"];
  ({ token } = JSON.parse(await ads(["bots", "add", ...bot, ...webhooks, "--json"])));
  const campaign = ["--advertiser", "Sudoku Shop", "--name", "Sudoku books", "--format", "direct_link", "--bots", BOT];
  const price = ["--click-price", "0.08", "--billing", "credit"];
  await ads(["campaigns", "add", ...campaign, "--landing-url", `${urls.demoBot}/landing`, ...price]);
  await ads(["people", "add", PUBLISHER, "--role", "publisher", "--bot-id", BOT]);
});
test.afterAll(() => receiver.close());

/** A user earns an event by a click. */
async function earn(adService: string): Promise<void> {
  users += 1;
  const answer = await fetch(`${adService}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: BOT, user_tg_id: String(users) }),
  });
  const { direct_link: link } = (await answer.json()) as { direct_link: string };
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": `198.51.100.${users % 250}` };
  expect((await fetch(link, { redirect: "manual", headers })).status).toBe(302);
}

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ window: size });

    test("a publisher sees what it is owed, the last and the next payout, and saves them as CSV, in two clicks", async ({
      reader,
    }) => {
      const { page } = reader;
      await reader.open();
      await reader.click(reader.section("Publisher"));
      await expect(page.getByText("Owed in all")).toBeVisible();
      await expect(page.getByText("Next payout")).toBeVisible();
      const file = page.waitForEvent("download");
      await reader.click(page.getByRole("button", { name: "CSV" }));
      expect((await file).suggestedFilename()).toBe(`earnings-${BOT}.csv`);
      expect(reader.steps).toBeLessThanOrEqual(2);
    });

    test("a failed webhook is explained and sent again in two clicks, and the checklist ticks by itself when a user earns", {
      tag: "@long",
    }, async ({ reader, stack }) => {
      const { page } = reader;
      // What was earned and delivered once stays ticked.
      const isFirst = name === "desk";
      const item = (text: string) => page.getByRole("listitem").filter({ hasText: text });
      await reader.open();
      await reader.click(reader.section("Publisher"));
      const earned = item("A user has earned a reward");
      const delivered = item("A webhook was delivered");
      if (isFirst) await expect(earned).toContainText("open");
      receiver.status = 500;
      if (isFirst) await stack.ads(["endpoints", "enable", BOT, "--skip-test"]);
      await earn(stack.urls.adService);
      await expect(earned).toContainText("done");
      if (isFirst) await expect(delivered).toContainText("open");

      await reader.open();
      await reader.click(reader.section("Publisher"));
      await expect(page.getByText("database is read-only", { exact: true })).toBeVisible();
      await expect(page.getByText(`POST ${receiver.url}`)).toContainText('"direct_link"');
      expect((await analyze(page)).violations).toEqual([]);
      receiver.status = 200;
      receiver.received = [];
      await reader.click(page.getByRole("button", { name: "Send again" }));
      await expect.poll(() => receiver.received.length).toBe(1);
      expect(reader.steps).toBeLessThanOrEqual(2);
      await expect(delivered).toContainText("done");
      await page.getByText("No webhook has failed for good.").waitFor();
    });
  });
}

test("an owner's link to a report opens for a publisher as one of the own bot, without what is hidden", {
  tag: "@long",
}, async ({ desk }) => {
  await desk.goto("reports?by=advertiser&orderBy=spendMicros&bot=9000000005&figure=spendMicros&zone=UTC");
  await expect(desk.getByLabel("Bot", { exact: true })).toHaveValue(BOT);
  await expect(desk.getByLabel("By", { exact: true })).toHaveValue("");
  await expect(desk.getByRole("columnheader", { name: "Revenue" })).toBeVisible();
});

test.describe("a publisher of two bots", { tag: "@long" }, () => {
  const [second, publisher] = ["9000000009", "two-bots@example.com"];
  test.use({ signedInAs: publisher });

  test.beforeAll(async ({ stack: { ads } }) => {
    await ads(["bots", "add", "--bot-id", second, "--name", "Crossword Club", "--json"]);
    await ads(["people", "add", publisher, "--role", "publisher", "--bot-id", BOT, "--bot-id", second]);
  });

  test("sees in the overview which bot the figures are of, and chooses the other one", async ({ desk, stack }) => {
    await earn(stack.urls.adService);
    const statistics = async (botId: string) =>
      JSON.parse(await stack.ads(["stats", "--bot-id", botId, "--by", "bot", "--json"])).rows.length;
    await expect.poll(() => statistics(BOT)).toBe(1);
    await desk.reload();
    const figures = desk.getByRole("region", { name: "The last 24 hours" });
    const bot = desk.getByLabel("Bot of the figures");
    await expect(bot.locator("option:checked")).toHaveText("Sudoku Club");
    await expect(figures.getByText("Revenue")).toBeVisible();
    // Other tests of this file earn, too.
    await expect(figures).toContainText(/Revenue\$0\.(0[1-9]|[1-9]\d)/);
    await bot.selectOption("Crossword Club");
    await expect(figures).toContainText("Revenue$0.00");
    await desk.getByRole("link", { name: "Reports", exact: true }).click();
    await desk.getByLabel("Bot", { exact: true }).selectOption("Crossword Club");
    await expect(desk.getByText("There are no figures in this range.").or(desk.getByRole("table"))).toBeVisible();
  });
});
