import { join } from "node:path";
import { expect, find, hold, test } from "./console.ts";

// Each worker would start a stack, and make the same campaigns.
test.describe.configure({ mode: "default" });

let campaignId: string;

test.beforeEach(async ({ stack }) => {
  const { adService } = stack.urls;
  const campaign = ["--advertiser", "Twin Mills", "--name", `Rye ${Date.now()}`, "--format", "direct_link"];
  const prices = [
    "--landing-url",
    `${adService}/landing`,
    "--click-price",
    "0.08",
    "--total-budget",
    "300",
    "--billing",
    "credit",
  ];
  const dates = ["--ends-at", "2030-10-27T01:30:45Z"];
  const added = await stack.ads(["campaigns", "add", ...campaign, ...prices, ...dates, "--json"]);
  campaignId = JSON.parse(added).campaignId;
});

test("of two people who change the same setting, the second one is told, and overwrites nothing unasked", async ({
  desk,
  stack,
}) => {
  const show = async () => JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"]));
  const set = (...settings: string[]) => stack.ads(["campaigns", "update", campaignId, ...settings, "--yes"]);
  await desk.goto(`campaigns/${campaignId}`);
  const total = desk.getByLabel("Total budget");
  await total.fill("400");
  await set("--total-budget", "200", "--click-price", "0.05");
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await expect(desk.getByText("Nothing is saved: another person has changed this campaign")).toBeVisible();
  expect((await show()).totalBudgetMicros).toBe(200e6);
  const conflict = desk.getByRole("alert").filter({ hasText: "It is now" });
  await expect(conflict).toContainText("200");
  // Where only the other one has typed, the value is there.
  await conflict.getByRole("button", { name: "Keep what I typed" }).click();
  await expect(total).toHaveValue("400");
  await expect(desk.getByLabel("Price of a click")).toHaveValue("0.05");
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await expect(desk.getByText("Saved", { exact: true })).toBeVisible();
  expect(await show()).toMatchObject({ totalBudgetMicros: 400e6, clickPriceMicros: 50_000 });

  await total.fill("500");
  await set("--total-budget", "250");
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await conflict.getByRole("button", { name: "Take these values" }).click();
  await expect(total).toHaveValue("250");
});

test("a budget that is changed in the list overwrites nothing that was set since it was read", {
  tag: "@long",
}, async ({ desk, stack }) => {
  const { name } = JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"]));
  const total = async () => JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"])).totalBudgetMicros;
  await desk.goto("campaigns");
  const cell = desk.getByRole("button", { name: `Change the total budget of ${name}` });
  await cell.click();
  await stack.ads(["campaigns", "update", campaignId, "--total-budget", "200", "--yes"]);
  const field = desk.getByRole("textbox", { name: `Change the total budget of ${name}` });
  await field.fill("350");
  await desk.keyboard.press("Enter");
  await expect(desk.getByText("Nothing is saved: another person has changed this campaign")).toBeVisible();
  await expect(desk.getByText("it is $200.00 now")).toBeVisible();
  expect(await total()).toBe(200e6);
  await field.focus();
  await desk.keyboard.press("Enter");
  await expect(cell).toContainText("$350.00");
  expect(await total()).toBe(350e6);
  await stack.ads(["campaigns", "update", campaignId, "--total-budget", "360", "--yes"]);
  await desk.getByRole("button", { name: "Undo" }).click();
  await expect(desk.getByText("Nothing is saved: another person has changed this campaign").last()).toBeVisible();
  expect(await total()).toBe(360e6);
});

test("a budget is saved once, however often Enter is pressed", { tag: "@long" }, async ({ desk, stack }) => {
  const { name } = JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"]));
  const changes: string[] = [];
  desk.on("request", (request) => {
    if (request.method() === "PATCH") changes.push(request.url());
  });
  const goOn = await hold(desk, "PATCH", `**/operator/v1/campaigns/${campaignId}*`);
  await desk.goto("campaigns");
  const cell = desk.getByRole("button", { name: `Change the total budget of ${name}` });
  await cell.click();
  await desk.getByRole("textbox", { name: `Change the total budget of ${name}` }).fill("350");
  await desk.keyboard.press("Enter");
  await expect.poll(() => changes.length).toBe(1);
  await desk.keyboard.press("Enter");
  goOn();
  await expect(cell).toContainText("$350.00");
  expect(changes).toHaveLength(1);
});

test("what is typed while a campaign is saved stays, and the form of another campaign is its own", {
  tag: "@long",
}, async ({ desk, stack }) => {
  const show = async () => JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"]));
  const { name } = await show();
  const goOn = await hold(desk, "PATCH", `**/operator/v1/campaigns/${campaignId}*`);
  await desk.goto(`campaigns/${campaignId}`);
  const total = desk.getByLabel("Total budget");
  const daily = desk.getByLabel("Daily budget");
  const save = desk.getByRole("button", { name: "Save", exact: true });
  await total.fill("400");
  await save.click();
  await expect(save).toHaveAttribute("aria-busy", "true");
  await daily.fill("50");
  goOn();
  await expect(desk.getByText("Saved", { exact: true })).toBeVisible();
  await expect(total).toHaveValue("400");
  await expect(daily).toHaveValue("50");
  await save.click();
  await expect.poll(async () => (await show()).dailyBudgetMicros).toBe(50e6);

  const otherName = `Oats ${Date.now()}`;
  const other = ["--advertiser", "Twin Mills", "--name", otherName, "--format", "direct_link"];
  const added = ["campaigns", "add", ...other, "--landing-url", `${stack.urls.adService}/landing`, "--yes", "--json"];
  const { campaignId: otherId } = JSON.parse(await stack.ads(added));
  // Both have been read, so that the second visit shows them at once.
  await desk.goto(`campaigns/${campaignId}`);
  await expect(total).toHaveValue("400");
  await find(desk, otherId, otherName);
  await expect(total).toHaveValue("");
  await total.fill("900");
  await find(desk, campaignId, name);
  await expect(desk.getByRole("heading", { name })).toBeVisible();
  await expect(total).toHaveValue("400");
});

test("an answer in the form of another version is said to be one, with a way to load the page anew", {
  tag: "@long",
}, async ({ desk }) => {
  await desk.route("**/operator/v1/people*", (route) => route.fulfill({ json: { persons: [] } }));
  await desk.getByRole("link", { name: "People", exact: true }).click();
  await expect(desk.getByText("The ad service was updated while this page was open")).toBeVisible();
  await desk.unroute("**/operator/v1/people*");
  await desk.getByRole("button", { name: "Reload the page" }).click();
  await expect(desk.getByRole("table", { name: "People" })).toBeVisible();
});

test.describe("whose session ends while something is typed", { tag: "@long" }, () => {
  const EMAIL = "typist@example.com";
  let personId: string;
  test.beforeAll(async ({ stack }) => {
    await stack.ads(["people", "add", EMAIL, "--role", "ad-ops"]);
    const people = JSON.parse(await stack.ads(["people", "list", "--json"]));
    personId = people.find(({ email }: { email: string }) => email === EMAIL).personId;
  });
  test.use({ signedInAs: EMAIL, refusal: 401 });

  test("the draft waits for the same person, and for nobody else", async ({ desk, stack }) => {
    const comeBack = async (email: string) => {
      await desk.goto(JSON.parse(await stack.ads(["people", "sign-in-link", email, "--json"])).link);
      await desk.getByRole("heading", { name: "Overview" }).waitFor();
      await desk.getByRole("link", { name: "Campaigns", exact: true }).click();
      await desk.getByRole("link", { name: "New campaign" }).click();
      await desk.getByLabel("Name", { exact: true }).waitFor();
    };
    await desk.goto("campaigns/new");
    await desk.getByLabel("Name", { exact: true }).fill("Half a campaign");
    await stack.ads(["people", "disable", personId]);
    await desk.getByRole("link", { name: "Campaigns", exact: true }).click();
    await desk.getByRole("heading", { name: "Sign in" }).waitFor();
    await expect(desk.getByText("Your session has ended.")).toBeVisible();
    await comeBack("owner@demo.example");
    await expect(desk.getByLabel("Name", { exact: true })).toHaveValue("");
    await stack.ads(["people", "enable", personId]);
    await comeBack(EMAIL);
    await expect(desk.getByLabel("Name", { exact: true })).toHaveValue("Half a campaign");
    await expect(desk.getByText("What you typed before is back")).toBeVisible();
  });
});

test("a change without a connection is refused at once, where the reader looks, and not made later", {
  tag: "@long",
}, async ({ browser, ownerState, stack }) => {
  const context = await browser.newContext({ storageState: ownerState, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${stack.urls.adService.replace("127.0.0.1", "localhost")}/console/advertisers`);
  await page.getByRole("button", { name: "Top up Twin Mills" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount").fill("7");
  await dialog.getByLabel("Reference").fill("INV-offline");
  await context.setOffline(true);
  await dialog.getByRole("button", { name: "Record it" }).click();
  await expect(dialog.getByText("The ad service does not answer")).toBeVisible();
  await dialog.getByRole("button", { name: "Dismiss" }).click();
  await expect(dialog.getByText("The ad service does not answer")).toHaveCount(0);
  await page.keyboard.press("Escape");
  const read = page.waitForResponse("**/operator/v1/money/advertisers*");
  await context.setOffline(false);
  await page.getByRole("link", { name: "Payouts", exact: true }).click();
  await page.getByRole("link", { name: "Advertisers", exact: true }).click();
  await read;
  expect(await stack.ads(["money", "entries", "--advertiser", "Twin Mills", "--json"])).not.toContain("INV-offline");
  await context.close();
});

test("a name of one long word leaves the other columns in the window", { tag: "@long" }, async ({ desk, stack }) => {
  const word = "W".repeat(128);
  const campaign = ["--advertiser", word, "--name", word, "--format", "direct_link"];
  await stack.ads(["campaigns", "add", ...campaign, "--landing-url", `${stack.urls.adService}/landing`, "--yes"]);
  for (const path of ["campaigns", "advertisers"]) {
    await desk.goto(path);
    const box = desk.locator(".table-box").last();
    await box.getByRole("rowheader", { name: word }).first().waitFor();
    expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), path).toBe(0);
  }
});

test.describe("whose answer is lost", { tag: "@long" }, () => {
  test.use({ refusal: 503 });

  test("a correction whose answer is lost is recorded once, however often its button is pressed", async ({
    reader,
    stack,
  }) => {
    const { page } = reader;
    const balance = async () => {
      const money = JSON.parse(await stack.ads(["money", "list", "--json"]));
      return money.find(({ name }: { name: string }) => name === "Twin Mills").balanceMicros;
    };
    await reader.open("advertisers");
    await reader.row("Twin Mills").getByRole("link").click();
    await page.getByRole("button", { name: "Correct" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount").fill("12.50");
    await dialog.getByLabel("Why").fill("Goodwill");
    let isLost = true;
    await page.route("**/corrections", async (route) => {
      const answer = await route.fetch();
      if (isLost) await route.fulfill({ status: 503, body: "" });
      else await route.fulfill({ response: answer });
    });
    await dialog.getByRole("button", { name: "Record it" }).click();
    await expect(page.getByText("The ad service does not answer")).toBeVisible();
    expect(await balance()).toBe(12_500_000);
    isLost = false;
    await dialog.getByRole("button", { name: "Record it" }).click();
    await expect(dialog).toHaveCount(0);
    expect(await balance()).toBe(12_500_000);
  });

  test("a campaign whose answer is lost is added once, also from the draft of the page before, and so is its copy", async ({
    desk,
    stack,
  }) => {
    const named = async (name: string) => {
      const campaigns: { name: string }[] = JSON.parse(await stack.ads(["campaigns", "list", "--json"]));
      return campaigns.filter((one) => one.name === name).length;
    };
    let isLost = true;
    await desk.route(/\/operator\/v1\/campaigns(\?|$)/, async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      const answer = await route.fetch();
      if (isLost && answer.status() === 201) return route.fulfill({ status: 503, body: "" });
      return route.fulfill({ response: answer });
    });
    const create = desk.getByRole("button", { name: "Create", exact: true });
    await desk.goto("campaigns/new");
    await desk.getByLabel("Name", { exact: true }).fill("Lost and found");
    await desk.getByLabel("Advertiser").fill("Twin Mills");
    await desk.getByLabel("Direct link").check();
    await desk.getByLabel("Rewarded video").uncheck();
    await desk.getByLabel("Landing page").fill("https://mills.example/");
    await create.click();
    await expect(desk.getByText("The ad service does not answer")).toBeVisible();
    expect(await named("Lost and found")).toBe(1);
    await desk.reload();
    await expect(desk.getByLabel("Name", { exact: true })).toHaveValue("Lost and found");
    isLost = false;
    await create.click();
    await desk.getByRole("heading", { name: "Lost and found" }).waitFor();
    expect(await named("Lost and found")).toBe(1);

    isLost = true;
    await desk.getByRole("button", { name: "Duplicate" }).click();
    await create.click();
    await expect(desk.getByText("The ad service does not answer")).toBeVisible();
    isLost = false;
    await create.click();
    await desk.getByRole("heading", { name: "Lost and found (copy)" }).waitFor();
    expect(await named("Lost and found (copy)")).toBe(1);
  });
});

test.describe("where there is nothing", { tag: "@long" }, () => {
  test.use({ refusal: 404 });

  test("a page of what does not exist leads back to its list, and a list that filters empty to all of it", async ({
    desk,
  }) => {
    for (const [path, heading] of [
      ["campaigns/cmp_nothing", "Campaigns"],
      ["bots/123", "Bots"],
      ["creatives/cre_nothing", "Creatives"],
      ["advertisers/adv_nothing", "Advertisers"],
    ] as const) {
      await desk.goto(path);
      await expect(desk.getByText("There is nothing here")).toHaveCount(1);
      await desk.getByRole("link", { name: "To the list" }).click();
      await desk.getByRole("heading", { name: heading, exact: true }).waitFor();
    }
    for (const path of ["campaigns", "bots", "advertisers", "people", "audit", "payouts"]) {
      await desk.goto(`${path}?find=${"nothing".repeat(4)}`);
      await desk.getByRole("link", { name: "Show all" }).click();
      await expect(desk.getByRole("table")).toBeVisible();
      expect(new URL(desk.url()).search).toBe("");
    }
    // What is no filter stays: the month, whether views or clicks are meant, and how a report is split.
    for (const [path, search, kept] of [
      ["payouts", "month=2026-03&find=nothing", "?month=2026-03"],
      ["reviews", "of=clicks&user=404", "?of=clicks"],
      ["reports", "from=2020-01-01&to=2020-01-02&by=bot&zone=Asia/Tokyo", "?zone=Asia%2FTokyo&by=bot&columns=usual"],
    ] as const) {
      await desk.goto(`${path}?${search}`);
      await desk.getByRole("link", { name: "Show all" }).click();
      await expect.poll(() => new URL(desk.url()).search, { message: path }).toBe(kept);
    }
  });
});

test.describe("in a zone whose clocks are set back", { tag: "@long" }, () => {
  test.use({ timezoneId: "Europe/Berlin" });

  test("saving another setting keeps an end in the second of two equal hours, with its seconds", async ({
    desk,
    stack,
  }) => {
    await desk.goto(`campaigns/${campaignId}`);
    await expect(desk.getByLabel("Ends")).toHaveValue("2030-10-27T02:30");
    await desk.getByLabel("Total budget").fill("310");
    await desk.getByRole("button", { name: "Save", exact: true }).click();
    await expect(desk.getByText("Saved", { exact: true })).toBeVisible();
    const saved = JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"]));
    expect(saved).toMatchObject({ totalBudgetMicros: 310e6, endsAt: "2030-10-27T01:30:45.000Z" });
  });

  test("a time that the clocks skip is refused, and one that comes twice is explained", async ({ desk }) => {
    await desk.goto(`campaigns/${campaignId}`);
    const ends = desk.getByLabel("Ends");
    await ends.fill("2030-03-31T02:30");
    await desk.getByRole("button", { name: "Save", exact: true }).click();
    await expect(desk.getByText("There is no such time on that day")).toBeVisible();
    await ends.fill("2030-10-27T02:30");
    await expect(desk.getByText("This time comes twice that day")).toContainText("GMT+2");
    await ends.fill("2030-10-28T02:30");
    await expect(desk.getByText("In the zone Europe/Berlin. Empty: without an end.")).toBeVisible();
  });
});

test("a bot's picture is chosen on its screen, beside a setting that is typed meanwhile, and removed", {
  tag: "@long",
}, async ({ desk, stack }) => {
  const { botId } = stack.secrets;
  const show = async () => JSON.parse(await stack.ads(["bots", "show", botId, "--json"]));
  await desk.goto(`bots/${botId}`);
  const panel = desk.getByRole("region", { name: "Pictures" });
  const cap = desk.getByLabel("Ads per user and day");
  await cap.fill("77");
  await panel
    .locator("input[type=file]")
    .first()
    .setInputFiles(join(import.meta.dirname, "../apps/ad-service/sample/bot-picture.webp"));
  const shown = panel.getByRole("img", { name: "The bot's picture" });
  await expect(shown).toBeVisible();
  expect(await shown.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(192);
  expect((await show()).unitIconFileName).toBeNull();
  await desk.getByRole("button", { name: "Save", exact: true }).click();
  await expect(desk.getByText("Saved", { exact: true })).toBeVisible();
  expect(await show()).toMatchObject({ dailyCap: 77, pictureFileName: expect.stringMatching(/webp$/) });
  await panel.getByRole("button", { name: "Remove" }).click();
  await expect(shown).toHaveCount(0);
  expect((await show()).pictureFileName).toBeNull();
});
