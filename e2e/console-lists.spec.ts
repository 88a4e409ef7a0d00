import { readFile, writeFile } from "node:fs/promises";
import { expect, openReceiver, test } from "./console.ts";

test.describe.configure({ mode: "default" });

const BOT = "9000000007";

test("the webhook log of a bot goes on to its end, page by page, also of one state", { tag: "@long" }, async ({
  desk,
  stack: { ads },
}) => {
  const receiver = await openReceiver();
  receiver.state.status = 200;
  await ads(["bots", "add", "--bot-id", BOT, "--name", "Log Book", "--webhook-url", receiver.state.url, "--json"]);
  // The demo tests a new address by itself, too, and a test that is under way refuses another one.
  for (let sent = 0; sent < 3; sent += 1) await expect(() => ads(["endpoints", "test", BOT])).toPass();
  await receiver.close();
  const listed = JSON.parse(await ads(["deliveries", "list", "--bot-id", BOT, "--json"]));
  const eventIds = listed.map(({ eventId }: { eventId: string }) => eventId);
  expect(eventIds.length).toBeGreaterThanOrEqual(3);
  // Pages of one, instead of hundreds of webhooks.
  await desk.route(/\/operator\/v1\/deliveries\?/, (route) =>
    route.continue({ url: `${route.request().url()}&limit=1` }),
  );
  const shown = () =>
    desk.getByRole("table", { name: "Deliveries" }).getByRole("row").locator("small").allTextContents();
  const more = desk.getByRole("button", { name: "Show more" });
  for (const search of ["", "?state=delivered"]) {
    await desk.goto(`bots/${BOT}${search}`);
    for (let pages = 1; pages <= eventIds.length; pages += 1) {
      await expect.poll(shown).toEqual(eventIds.slice(0, pages));
      if (pages < eventIds.length) await more.click();
    }
    await expect(more).toHaveCount(0);
  }
});

test(
  "a new campaign finds its video among more than the form shows, and keeps what was chosen",
  {
    tag: "@long",
  },
  async ({ desk, stack: { ads } }, info) => {
    const video = async (name: string) => {
      // Of its own bytes: the same file again would be the same creative.
      const box = Buffer.from(`\0\0\0\x1cfree${name.padEnd(20)}`);
      const file = info.outputPath(`${name}.mp4`);
      await writeFile(file, Buffer.concat([await readFile(`${import.meta.dirname}/fixtures/clip-2s.mp4`), box]));
      const { creativeId } = JSON.parse(await ads(["creatives", "add", file, "--json"]));
      await ads(["creatives", "rename", creativeId, name]);
      return creativeId as string;
    };
    const old = await video("Harvest festival");
    const second = await video("Winter market");
    await desk.route(/\/operator\/v1\/creatives\?/, (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set("limit", "1");
      return route.continue({ url: url.href });
    });
    const address = new URL("/console/campaigns/new", desk.url()).href;
    await desk.goto(address);
    const videos = desk.getByRole("group", { name: "Videos" });
    await videos.getByText("There are more: search for them.").waitFor();
    await expect(videos.getByRole("checkbox")).toHaveCount(1);
    const search = videos.getByRole("searchbox");
    await search.fill("festival harvest");
    await videos.getByLabel("Harvest festival").check();
    await search.fill(second);
    await videos.getByLabel("Winter market").check();
    await expect(videos.getByLabel("Harvest festival")).toBeChecked();
    await search.fill("nothing of these");
    await search.press("Enter");
    await videos.getByText("No video has these words.").waitFor();
    await expect(videos.getByRole("checkbox", { checked: true })).toHaveCount(2);
    // The draft has them, too.
    await desk.goto(address);
    await expect(videos.getByLabel("Winter market")).toBeChecked();
    await expect(videos.getByLabel("Harvest festival")).toBeChecked();
    await desk.getByLabel("Name", { exact: true }).fill("Two videos");
    await desk.getByLabel("Advertiser").fill("Market Hall");
    await desk.getByRole("button", { name: "Create", exact: true }).click();
    await desk.getByRole("heading", { name: "Two videos" }).waitFor();
    const campaigns = JSON.parse(await ads(["campaigns", "list", "--json"]));
    const made = campaigns.find(({ name }: { name: string }) => name === "Two videos");
    expect(made.creatives.map(({ creativeId }: { creativeId: string }) => creativeId).toSorted()).toEqual(
      [old, second].toSorted(),
    );
  },
);

test("a list that is read in pages has one button for more, however long it is", { tag: "@long" }, async ({ desk }) => {
  // One page of the server's, with more rows than a list that is read whole shows at once.
  await desk.route(/\/operator\/v1\/audit(\?|$)/, async (route) => {
    const response = await route.fetch();
    const { entries } = await response.json();
    const many = Array.from({ length: 300 }, (_, index) => ({ ...entries[0], entryId: String(9_000_000 - index) }));
    await route.fulfill({ json: { entries: many, next: "8000000" } });
  });
  await desk.goto("audit");
  await expect(desk.getByRole("table", { name: "Audit trail" }).getByRole("row")).toHaveCount(301);
  await expect(desk.getByRole("button", { name: "Show more" })).toHaveCount(1);
});

test("the finder asks the server after a pause in the typing, and not for each letter", { tag: "@long" }, async ({
  desk,
}) => {
  const requested: (string | null)[] = [];
  desk.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === "/operator/v1/creatives" && searchParams.has("find")) requested.push(searchParams.get("find"));
  });
  await desk.keyboard.press("ControlOrMeta+k");
  const field = desk.getByRole("dialog").getByRole("combobox");
  await field.waitFor();
  await desk.clock.install();
  await desk.clock.pauseAt(Date.now() + 3_600_000);
  await field.pressSequentially("harvest");
  await desk.clock.runFor(1000);
  await expect.poll(() => requested).toEqual(["harvest"]);
});

test("an advertiser without entries leads to its first top-up, which is more than 0", { tag: "@long" }, async ({
  desk,
  stack: { ads },
}) => {
  await ads(["advertisers", "add", "Empty Shelf"]);
  await desk.goto("advertisers");
  await desk.getByRole("link", { name: "Empty Shelf" }).click();
  await desk.getByRole("button", { name: "Record the first top-up" }).click();
  const dialog = desk.getByRole("dialog");
  await dialog.getByLabel("Amount in USD").fill("0");
  await dialog.getByLabel("Reference").fill("INV-first");
  await dialog.getByRole("button", { name: "Record it" }).click();
  await expect(dialog.getByText("it must be more than 0.")).toBeVisible();
  await dialog.getByLabel("Amount in USD").fill("25");
  await dialog.getByRole("button", { name: "Record it" }).click();
  await expect(desk.getByRole("table", { name: "Entries" }).getByText("INV-first")).toBeVisible();
  await expect(desk.getByRole("button", { name: "Record the first top-up" })).toHaveCount(0);
});

test.describe("on a phone with letters of twice the size", { tag: "@long" }, () => {
  test.use({ window: { width: 390, height: 844 } });

  test("the name of a row is whole, however long it is", async ({ desk, stack: { ads } }) => {
    const email = `${"a".repeat(40)}@long-names.example`;
    await ads(["people", "add", email, "--role", "analyst"]);
    await desk.goto("people");
    await desk.evaluate(() => {
      document.documentElement.style.fontSize = "200%";
    });
    const name = desk.getByRole("rowheader", { name: email });
    await name.waitFor();
    const box = desk.locator(".table-box");
    await expect
      .poll(() => box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), { timeout: 5000 })
      .toBe(0);
    expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });
});

test("closing the window of a resend stops it after the batch that is under way, and says how many were sent", {
  tag: "@long",
}, async ({ desk, stack: { ads } }) => {
  const receiver = await openReceiver();
  const bot = ["--bot-id", "9000000008", "--name", "Stopped Log", "--webhook-url", receiver.state.url];
  await ads(["bots", "add", ...bot, "--json"]);
  await receiver.close();
  let batches = 0;
  await desk.route(/\/operator\/v1\/bots\/9000000008\/replay/, async (route) => {
    const until = new Date().toISOString();
    const counted = { botId: "9000000008", scope: "failed", since: until, until, keptSince: null, unknown: 0 };
    if (route.request().method() === "GET") return route.fulfill({ json: { ...counted, count: 600, isMore: false } });
    batches += 1;
    await expect(desk.getByRole("dialog")).toHaveCount(0);
    return route.fulfill({ json: { replayed: 200, next: "evt_more" } });
  });
  await desk.goto("bots");
  await desk.getByRole("button", { name: "Resend failed: Stopped Log" }).click();
  await desk.getByRole("button", { name: "Send 600 again" }).click();
  await expect.poll(() => batches).toBe(1);
  await desk.getByRole("button", { name: "Cancel" }).click();
  await expect(desk.getByText("Stopped. Sent again: 200; the others are as they were.")).toBeVisible();
  expect(batches).toBe(1);
});

test("a filter that is taken back leaves the list whole, and its name out of the address", async ({ desk }) => {
  await desk.goto("campaigns");
  const rows = desk.getByRole("table", { name: "Campaigns" }).getByRole("row");
  await desk.getByRole("table", { name: "Campaigns" }).waitFor();
  const all = await rows.count();
  const search = desk.getByRole("searchbox").first();
  await search.fill("nothing has this name");
  await expect(rows).toHaveCount(0);
  await search.fill("");
  await expect(rows).toHaveCount(all);
  await desk.getByLabel("Advertiser").selectOption({ index: 1 });
  await expect.poll(() => new URL(desk.url()).searchParams.has("advertiser")).toBe(true);
  await desk.getByLabel("Advertiser").selectOption("All advertisers");
  await expect(rows).toHaveCount(all);
  expect(new URL(desk.url()).search).toBe("");
});
