import { readFile, writeFile } from "node:fs/promises";
import { analyze } from "./axe.ts";
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
    // What the search before has found is not meant by Enter.
    await search.fill("winter market");
    await search.press("Enter");
    await videos.getByLabel("Winter market").waitFor();
    await search.press("Enter");
    await expect(videos.getByLabel("Winter market")).toBeChecked();
    await expect(search).toHaveValue("");
    await expect(videos.getByLabel("Harvest festival")).toBeChecked();
    await search.fill("nothing of these");
    await search.press("Enter");
    await videos.getByText("Nothing is found.").waitFor();
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
  await dialog.getByLabel("Amount", { exact: true }).fill("0");
  await dialog.getByLabel("Reference").fill("INV-first");
  await dialog.getByRole("button", { name: "Record it" }).click();
  await expect(dialog.getByText("it must be more than 0.")).toBeVisible();
  await dialog.getByLabel("Amount", { exact: true }).fill("25");
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
    await expect.poll(() => box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
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
  await expect(desk.getByRole("dialog").getByRole("button", { name: "Cancel" })).toBeVisible();
  await desk.getByRole("button", { name: "Send 600 again" }).click();
  await expect.poll(() => batches).toBe(1);
  await desk.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(desk.getByText("Stopped. Sent again: 200; the others are as they were.")).toBeVisible();
  expect(batches).toBe(1);
});

test("a filter that is taken back leaves the list whole, and its name out of the address", { tag: "@long" }, async ({
  desk,
}) => {
  await desk.goto("campaigns");
  const rows = desk.getByRole("table", { name: "Campaigns" }).getByRole("row");
  await desk.getByRole("table", { name: "Campaigns" }).waitFor();
  const all = await rows.count();
  const search = desk.getByRole("searchbox").first();
  await search.fill("nothing has this name");
  // The heads stay, with their filters.
  await expect(rows).toHaveCount(1);
  await desk.getByText("No campaign matches").waitFor();
  await search.fill("");
  await expect(rows).toHaveCount(all);
  await desk.getByLabel("Advertiser").selectOption({ index: 1 });
  await expect.poll(() => new URL(desk.url()).searchParams.has("advertiser")).toBe(true);
  await desk.getByLabel("Advertiser").selectOption("All advertisers");
  await expect(rows).toHaveCount(all);
  expect(new URL(desk.url()).search).toBe("");
});

test("the key / leads to the search of a list, and to the finder where a form has the only search fields", {
  tag: "@long",
}, async ({ desk }) => {
  await desk.goto("campaigns");
  await desk.getByRole("table", { name: "Campaigns" }).waitFor();
  await desk.keyboard.press("/");
  await expect(desk.locator(".list-head").getByRole("searchbox")).toBeFocused();
  const campaign = await desk.getByRole("rowheader").getByRole("link").first().getAttribute("href");
  for (const address of [campaign ?? "", "campaigns/new"]) {
    await desk.goto(address);
    await expect(desk.locator("form input[type=search]").first()).toBeAttached();
    await desk.keyboard.press("/");
    await expect(desk.getByRole("dialog").getByRole("combobox")).toBeFocused();
  }
});

test("a list is sorted by its heads and its keys, and its address brings the order back", async ({
  desk,
  stack: { ads },
}) => {
  // Names of their own, in an order that neither the list's nor that of their words is.
  for (const [name, budget] of [
    ["Sorted 10", "30"],
    ["Sorted 9", "5"],
    ["Sorted 2", ""],
  ] as const) {
    const settings = [
      "--advertiser",
      "Sorting Office",
      "--format",
      "direct_link",
      "--landing-url",
      "https://shop.example/",
    ];
    const limit = budget === "" ? [] : ["--daily-budget", budget];
    await ads(["campaigns", "add", "--name", name, ...settings, ...limit, "--yes", "--json"]);
  }
  await desk.goto("campaigns?find=Sorted");
  const table = desk.getByRole("table", { name: "Campaigns" });
  const names = () =>
    table
      .getByRole("rowheader")
      .locator("a")
      .evaluateAll((links) => links.map((a) => a.firstChild?.textContent));
  await expect.poll(names).toEqual(["Sorted 2", "Sorted 9", "Sorted 10"]);
  const daily = table.getByRole("columnheader", { name: "Daily budget" });
  await daily.getByRole("link").press("Enter");
  await expect.poll(names).toEqual(["Sorted 10", "Sorted 9", "Sorted 2"]);
  await expect(daily).toHaveAttribute("aria-sort", "descending");
  await daily.getByRole("link").press("Enter");
  await expect.poll(names).toEqual(["Sorted 9", "Sorted 10", "Sorted 2"]);
  await expect(daily).toHaveAttribute("aria-sort", "ascending");
  expect(new URL(desk.url()).searchParams.get("sort")).toBe("daily");
  await desk.reload();
  await expect.poll(names).toEqual(["Sorted 9", "Sorted 10", "Sorted 2"]);
  await daily.getByRole("link").click();
  await expect.poll(() => new URL(desk.url()).search).toBe("?find=Sorted");
  await expect.poll(names).toEqual(["Sorted 2", "Sorted 9", "Sorted 10"]);
  // The focus goes from row to row.
  const row = (name: string) => table.getByRole("link", { name });
  await row("Sorted 2").focus();
  await desk.keyboard.press("ArrowDown");
  await expect(row("Sorted 9")).toBeFocused();
  await desk.keyboard.press("End");
  await expect(row("Sorted 10")).toBeFocused();
  await desk.keyboard.press("ArrowDown");
  await expect(row("Sorted 10")).toBeFocused();
});

test("the columns of a list that are chosen stay chosen, and its head stays in the window", { tag: "@long" }, async ({
  desk,
}) => {
  await desk.goto("campaigns");
  const table = desk.getByRole("table", { name: "Campaigns" });
  const pace = table.getByRole("columnheader", { name: "Pace" });
  await pace.waitFor();
  await desk.getByRole("button", { name: "View" }).click();
  await desk.getByRole("checkbox", { name: "Pace" }).uncheck();
  await expect(pace).toHaveCount(0);
  await desk.reload();
  await table.waitFor();
  await expect(pace).toHaveCount(0);
  await desk.getByRole("button", { name: "View" }).click();
  await desk.getByLabel("Order").selectOption("Campaign: descending");
  await expect(table.getByRole("columnheader", { name: "Campaign" })).toHaveAttribute("aria-sort", "descending");
  await desk.getByRole("checkbox", { name: "Pace" }).check();
  await expect(pace).toBeVisible();
  await desk.keyboard.press("Escape");
  // A window that is lower than the list.
  await desk.setViewportSize({ width: 1280, height: 320 });
  await table.getByRole("row").last().scrollIntoViewIfNeeded();
  await expect(pace).toBeInViewport();
});

test("selected campaigns are counted, paused, resumed and archived together, and what is filtered out is left alone", async ({
  desk,
  stack: { ads },
}) => {
  for (const name of ["Chosen A", "Chosen B", "Chosen C", "Chosen D"]) {
    const settings = ["--advertiser", "Choice", "--format", "direct_link", "--landing-url", "https://shop.example/"];
    await ads(["campaigns", "add", "--name", name, ...settings, "--yes", "--json"]);
  }
  const statusOf = async (name: string) => {
    const listed = JSON.parse(await ads(["campaigns", "list", "--archived", "--json"]));
    return listed.find((one: { name: string }) => one.name === name).status;
  };
  await desk.goto("campaigns?find=Chosen");
  const selected = desk.getByRole("region", { name: "selected" });
  const confirm = async (name: string) => {
    await selected.getByRole("button", { name, exact: true }).click();
    await desk.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    await expect(desk.getByRole("dialog")).toHaveCount(0);
  };
  await desk.getByRole("checkbox", { name: "Select Chosen C" }).check();
  await desk.getByRole("checkbox", { name: "Select Chosen A" }).click({ modifiers: ["Shift"] });
  await expect(selected).toContainText("3 campaigns selected");
  await expect(desk.getByRole("checkbox", { name: "Select all" })).not.toBeChecked();
  await confirm("Pause 3 campaigns");
  for (const name of ["Chosen A", "Chosen B", "Chosen C"]) await expect.poll(() => statusOf(name)).toBe("paused");
  expect(await statusOf("Chosen D")).toBe("active");
  await desk.getByRole("checkbox", { name: "Select all" }).check();
  await expect(selected).toContainText("4 campaigns selected");
  await selected.getByRole("button", { name: "Resume 3 campaigns" }).click();
  await expect(desk.getByRole("dialog")).toContainText("Of the selected, 1 stay as they are.");
  await desk.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(await statusOf("Chosen A")).toBe("paused");
  // Only what is still shown is meant.
  await desk.getByRole("searchbox").first().fill("Chosen B");
  await expect(selected).toContainText("1 campaign selected");
  // On a phone, too.
  await desk.setViewportSize({ width: 360, height: 740 });
  await desk.getByRole("checkbox", { name: "Select Chosen B" }).uncheck();
  await expect(selected).toHaveCount(0);
  await desk.getByRole("checkbox", { name: "Select Chosen B" }).check();
  expect((await analyze(desk)).violations).toEqual([]);
  await confirm("Archive 1 campaign");
  await expect.poll(() => statusOf("Chosen B")).toBe("archived");
  expect(await statusOf("Chosen A")).toBe("paused");
  // A stop finishes the request that is under way, and makes no other.
  await desk.setViewportSize({ width: 1280, height: 800 });
  await desk.getByRole("searchbox").first().fill("Chosen");
  // The server finds them.
  await desk.getByRole("checkbox", { name: "Select Chosen D" }).waitFor();
  await desk.getByRole("checkbox", { name: "Select all" }).check();
  const requested = desk.waitForRequest(/\/archive$/);
  const held = Promise.withResolvers<void>();
  await desk.route(/\/archive$/, async (route) => {
    await held.promise;
    await route.continue();
  });
  await selected.getByRole("button", { name: "Archive 3 campaigns" }).click();
  await desk.getByRole("dialog").getByRole("button", { name: "Archive 3 campaigns" }).click();
  const first = /campaigns\/(\w+)\/archive$/.exec((await requested).url())?.[1];
  await desk.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  held.resolve();
  await expect(desk.getByText("1 campaign is archived. Stopped: 2 campaigns stay as they are.")).toBeVisible();
  const listed = JSON.parse(await ads(["campaigns", "list", "--archived", "--json"]));
  const left = listed.filter(
    ({ name, campaignId }: { name: string; campaignId: string }) =>
      ["Chosen A", "Chosen C", "Chosen D"].includes(name) && campaignId !== first,
  );
  expect(left.map(({ status }: { status: string }) => status)).not.toContain("archived");
});

test("a long list is filtered, sorted, counted and paged by the server, and its pickers search", {
  tag: "@long",
}, async ({ desk, stack: { ads } }) => {
  const link = ["--format", "direct_link", "--landing-url", "https://shop.example/"];
  await ads(["campaigns", "add", "--advertiser", "North Timber", "--name", "Winter blend", ...link, "--yes", "--json"]);
  const requested: URLSearchParams[] = [];
  await desk.route(/\/operator\/v1\/(campaigns|advertisers|bots)\?/, async (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.endsWith("/campaigns")) requested.push(url.searchParams);
    // Pages of one, instead of thousands of objects.
    url.searchParams.set("limit", "1");
    await route.continue({ url: url.href });
  });
  await desk.goto("campaigns");
  const table = desk.getByRole("table", { name: "Campaigns" });
  const rows = table.getByRole("rowheader");
  await expect(rows).toHaveCount(1);
  const total = Number.parseInt((await desk.locator(".list-head").getByRole("status").textContent()) ?? "", 10);
  expect(total).toBeGreaterThan(2);
  for (let shown = 1; shown < total; shown += 1) {
    await desk.getByRole("button", { name: "Show more" }).click();
    await expect(rows).toHaveCount(shown + 1);
  }
  await expect(desk.getByRole("button", { name: "Show more" })).toHaveCount(0);
  // There are more advertisers than one answer has: what is typed is searched for.
  const picker = desk.getByRole("combobox", { name: "Advertiser" });
  await picker.pressSequentially("north ti");
  await expect(desk.locator("datalist option")).toHaveAttribute("value", "North Timber");
  await picker.fill("North Timber");
  await expect.poll(() => new URL(desk.url()).searchParams.get("advertiser")).toBe("North Timber");
  await desk.getByRole("combobox", { name: "State" }).selectOption("paused");
  await expect.poll(() => requested.at(-1)?.get("status")).toBe("paused");
  expect(requested.at(-1)?.get("advertiser")).toBe("North Timber");
  await picker.fill("");
  await expect.poll(() => new URL(desk.url()).search).toBe("?status=paused");
});
