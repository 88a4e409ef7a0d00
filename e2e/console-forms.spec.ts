import { analyze } from "./axe.ts";
import { expect, openReceiver, test } from "./console.ts";

// Each worker would start a stack.
test.describe.configure({ mode: "default" });
test.use({ refusal: 400 });

test("every setting of a campaign is set in its form, and a fault of the server stands at its field", async ({
  desk,
  stack,
}) => {
  const [{ creativeId }] = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
  const formats = ["--format", "rewarded", "--format", "direct_link", "--creative", creativeId];
  const landing = ["--landing-url", `${stack.urls.adService}/landing`];
  const campaign = ["--advertiser", "Twin Mills", "--name", `Whole ${Date.now()}`, ...formats, ...landing];
  const { campaignId } = JSON.parse(await stack.ads(["campaigns", "add", ...campaign, "--yes", "--json"]));
  await desk.goto(`campaigns/${campaignId}`);
  const field = (label: string) => desk.getByLabel(label, { exact: true });
  const section = (title: string) => desk.locator("summary", { hasText: title }).click();
  const pick = async (label: string, search: string, found: string) => {
    await field(`Search: ${label}`).fill(search);
    await desk.getByRole("checkbox", { name: found }).check();
  };
  await field("Name").fill("Whole campaign");
  await field("Landing page").fill("https://mills.example/rye");
  await field("Call to action").fill("Taste it");
  await field("Price of a view").fill("0.02");
  await field("Price of a click").fill("0.05");
  await field("Daily budget").fill("10");
  await field("Total budget").fill("100");
  await field("Starts").fill("2030-03-01T08:00");
  await field("Ends").fill("2030-04-01T08:00");

  await section("Which users see it");
  await pick("Languages", "finn", "Finnish (fi)");
  await field("Search: Languages").fill("pt");
  await desk.keyboard.press("Enter");
  await pick("Countries", "germ", "Germany (DE)");
  await desk.getByRole("checkbox", { name: "iOS" }).check();
  await field("Telegram Premium").selectOption({ label: "only users who have it" });

  await section("At which times");
  await desk.getByRole("group", { name: "Weekdays" }).getByLabel("Sat").check();
  for (const hour of ["23", "00"]) await desk.getByRole("group", { name: "Hours" }).getByLabel(hour).check();

  await section("In which bots");
  await desk.getByRole("group", { name: "Only in bots", exact: true }).getByLabel("7000000001").check();
  await desk.getByRole("group", { name: "Not in bots", exact: true }).getByLabel("7000000001").check();
  await field("Only in bots of the categories").fill("games, quiz");
  await field("Not in bots of the categories").fill("betting");
  await field("Category of the campaign").fill("food");

  await section("Limits of views and clicks");
  await field("Ads per user").fill("3");
  await field("Within, s").fill("86400");
  await expect(desk.getByText("That is 24 h.")).toBeVisible();
  await field("Views a day").fill("100");
  await field("Views in total").fill("1000");
  await field("Clicks a day").fill("10");
  await field("Clicks in total").fill("99");

  await section("Order among campaigns");
  await field("Priority").selectOption({ label: "sponsorship" });
  await field("Weight").fill("4");
  await field("Pacing").selectOption({ label: "as fast as requests come" });

  // A folded section opens for the fault of its field.
  await section("Which users see it");
  const save = desk.getByRole("button", { name: "Save" });
  await save.click();
  const countries = desk.getByRole("group", { name: "Countries" });
  await expect(countries.getByRole("alert")).toContainText("No source of countries is configured");
  await expect(field("Search: Countries")).toBeFocused();
  await desk.getByRole("checkbox", { name: "Germany (DE)" }).uncheck();
  await save.click();
  await expect(desk.getByText("Saved", { exact: true })).toBeVisible();

  const zone = new Date("2030-03-01T08:00").toISOString();
  expect(JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"]))).toMatchObject({
    name: "Whole campaign",
    landingUrl: "https://mills.example/rye",
    callToAction: "Taste it",
    viewPriceMicros: 20_000,
    clickPriceMicros: 50_000,
    dailyBudgetMicros: 10e6,
    totalBudgetMicros: 100e6,
    startsAt: zone,
    category: "food",
    userCap: 3,
    userCapSeconds: 86_400,
    dailyViewCap: 100,
    totalViewCap: 1000,
    dailyClickCap: 10,
    totalClickCap: 99,
    priority: "sponsorship",
    weight: 4,
    pacing: "asap",
    targeting: {
      languages: ["fi", "pt"],
      platforms: ["ios"],
      premium: true,
      bots: ["7000000001"],
      botCategories: ["games", "quiz"],
      excludedBots: ["7000000001"],
      excludedBotCategories: ["betting"],
      hours: [0, 23],
      weekdays: [6],
    },
  });
});

test("a bot is added on its screen, up to a first token that works and a test that its program answers", async ({
  desk,
  stack,
}) => {
  const receiver = await openReceiver();
  receiver.state.status = 200;
  const { adService } = stack.urls;
  await desk.getByRole("link", { name: "Bots", exact: true }).click();
  await desk.getByRole("link", { name: "Add a bot" }).click();
  const add = desk.getByRole("button", { name: "Add a bot" });
  await desk.getByLabel("Telegram id").fill("@quiz");
  await desk.getByLabel("Name", { exact: true }).fill("Quiz of the console");
  await desk.getByLabel("Webhook address").fill(receiver.state.url);
  await add.click();
  await expect(desk.getByText("Must be a Telegram id")).toBeVisible();
  await expect(desk.getByLabel("Telegram id")).toBeFocused();
  await desk.getByLabel("Telegram id").fill("7100000042");
  await add.click();
  await desk.getByRole("heading", { name: "Quiz of the console is added." }).waitFor();
  const lines = (await desk.locator("pre").textContent()) ?? "";
  const token = /^AD_API_TOKEN=(\S+)$/m.exec(lines)?.[1] ?? "";
  expect(lines).toContain("BOT_ID=7100000042");
  const code = await fetch(`${adService}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: "7100000042", user_tg_id: "42" }),
  });
  expect(code.ok, await code.text()).toBe(true);
  // A new address gets a test by itself, too, and only one is under way at a time.
  await expect(async () => {
    await desk.getByRole("button", { name: "Send a test" }).click();
    await expect(desk.getByText(/^The test was (delivered|answered)/).first()).toBeVisible({ timeout: 3000 });
  }).toPass();
  expect(receiver.state.received).not.toEqual([]);
  await desk.getByRole("link", { name: "Open the bot's screen" }).click();
  // Not that of the screen before, which ends with "is added".
  await desk.getByRole("heading", { name: "Quiz of the console", exact: true }).waitFor();
  // The token is nowhere in the page, nor in what the browser keeps.
  expect(
    await desk.evaluate(() => document.documentElement.innerHTML + JSON.stringify({ ...sessionStorage })),
  ).not.toContain(token);
  await receiver.close();
});

test("an advertiser is added, and renamed unless another person has renamed it meanwhile", { tag: "@long" }, async ({
  desk,
  stack,
}) => {
  await desk.getByRole("link", { name: "Advertisers", exact: true }).click();
  await desk.getByRole("button", { name: "Add an advertiser" }).click();
  const dialog = desk.getByRole("dialog");
  const name = dialog.getByLabel("Name, as viewers see it");
  const add = dialog.getByRole("button", { name: "Add it" });
  await expect(name).toBeFocused();
  await expect(dialog.getByLabel("Credit limit")).toHaveCount(0);
  await dialog.getByLabel("Billing").selectOption({ label: "on credit" });
  await dialog.getByLabel("Credit limit").fill("1e3");
  await add.click();
  await expect(dialog.getByText("Must not be empty.")).toBeVisible();
  await expect(dialog.getByText("write 1000")).toBeVisible();
  await expect(name).toBeFocused();
  await stack.ads(["advertisers", "add", "Barley House"]);
  await name.fill("barley house");
  await dialog.getByLabel("Credit limit").fill("250");
  await add.click();
  await expect(dialog.getByText("There is already an advertiser Barley House")).toBeVisible();
  await name.fill("Rye and Co");
  await add.click();
  await desk.getByRole("heading", { name: "Rye and Co" }).waitFor();
  const shown = async () => JSON.parse(await stack.ads(["money", "show", advertiserId, "--json"]));
  const advertiserId = new URL(desk.url()).pathname.split("/").at(-1) ?? "";
  expect(await shown()).toMatchObject({ name: "Rye and Co", billing: "credit", creditLimitMicros: 250e6 });

  await desk.getByRole("button", { name: "Rename" }).click();
  await expect(name).toHaveValue("Rye and Co");
  await name.fill("Rye and Daughters");
  await stack.ads(["advertisers", "rename", advertiserId, "Rye Ltd"]);
  const save = dialog.getByRole("button", { name: "Save" });
  await save.click();
  await expect(dialog.getByText("another person has renamed the advertiser")).toBeVisible();
  await expect(dialog.getByRole("definition")).toHaveText("Rye Ltd");
  expect(await shown()).toMatchObject({ name: "Rye Ltd" });
  await dialog.getByRole("button", { name: "Keep what I typed" }).click();
  await save.click();
  await desk.getByRole("heading", { name: "Rye and Daughters", exact: true }).waitFor();
  await expect(dialog).toHaveCount(0);
});

test("who is told of failing webhooks, and how many are sent at once, is set on the bot's screen", {
  tag: "@long",
}, async ({ desk, stack }) => {
  const url = "https://quiz.example/webhooks";
  await stack.ads(["bots", "add", "--bot-id", "7100000043", "--name", "Told", "--webhook-url", url, "--json"]);
  await desk.goto("bots/7100000043");
  const settings = desk.getByRole("region", { name: "Webhook settings" });
  const save = (name: string) => settings.getByRole("button", { name: `Save: ${name}` });
  await settings.getByLabel("Webhooks at once", { exact: true }).fill("41");
  await save("Webhooks at once").click();
  await expect(settings.getByText("Must be 40 at most.")).toBeVisible();
  await settings.getByLabel("Webhooks at once", { exact: true }).fill("8");
  await save("Webhooks at once").click();
  await expect(desk.getByText("Saved", { exact: true })).toBeVisible();
  expect(JSON.parse(await stack.ads(["endpoints", "show", "7100000043", "--json"])).maxInFlight).toBe(8);

  await expect(settings.getByText("Nobody is told yet.")).toBeVisible();
  await settings.getByLabel("E-mail address").fill("ops");
  await settings.getByLabel("Address for signed notices").fill(url);
  await save("Notices").click();
  await expect(settings.getByText("Must be an e-mail address")).toBeVisible();
  await settings.getByLabel("E-mail address").fill("ops@quiz.example");
  await save("Notices").click();
  await expect(settings.getByLabel("Address for signed notices")).toHaveAccessibleDescription(/another address/);
  await settings.getByLabel("Address for signed notices").fill("");
  await save("Notices").click();
  await expect(settings.getByRole("definition")).toHaveText(/^ops@quiz\.example/);
  const stored = JSON.parse(await stack.ads(["notices", "show", "7100000043", "--json"]));
  expect(stored.receivers).toMatchObject([{ channel: "email", address: "ops@quiz.example" }]);
});

test("a campaign's form says what it may expect by the last days, while it is typed", { tag: "@long" }, async ({
  desk,
  stack,
}) => {
  await stack.addSample();
  await desk.goto("campaigns/new");
  await desk.getByRole("checkbox", { name: "Video" }).check();
  const forecast = desk.getByText(/users at these targets asked for an ad about [\d,]+ times a day/);
  await expect(forecast).toContainText(/may expect about [\d,]+ paid views a day/);
  await desk.getByLabel("Price of a view", { exact: true }).fill("0.02");
  await desk.getByLabel("Daily budget", { exact: true }).fill("0.1");
  await desk.getByLabel("Total budget", { exact: true }).fill("1");
  await expect(forecast).toContainText("The daily budget allows 5 paid views a day ($0.10)");
  await expect(forecast).toContainText("the total lasts about 10 days");
  await forecast.scrollIntoViewIfNeeded();
  await desk.screenshot({ path: test.info().outputPath("forecast.png"), fullPage: true });
  // While a field is wrong, there is none.
  await desk.getByLabel("Daily budget", { exact: true }).fill("much");
  await expect(forecast).toHaveCount(0);
});

test("how a campaign shows a video is set beside it, and the operator of ad data on the screen of its filings", async ({
  desk,
  stack,
}) => {
  const [{ creativeId, name }] = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
  const ofVideo = ["--format", "rewarded", "--creative", creativeId];
  const campaign = ["--advertiser", "Twin Mills", "--name", `Shown ${Date.now()}`, ...ofVideo];
  const { campaignId } = JSON.parse(await stack.ads(["campaigns", "add", ...campaign, "--yes", "--json"]));
  await desk.goto(`campaigns/${campaignId}`);
  await desk.getByRole("button", { name: `How ${name} is shown in the campaign` }).click();
  const dialog = desk.getByRole("dialog");
  await expect(dialog.getByLabel("Weight")).toBeFocused();
  await dialog.getByLabel("Weight").fill("0");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByText("Must be 1 or more.")).toBeVisible();
  await dialog.getByLabel("Weight").fill("3");
  await dialog.getByLabel("Advertiser’s name").fill("Rye Mill");
  await dialog.getByLabel("Call to action").fill("Taste it");
  expect((await analyze(desk)).violations).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  const { creatives } = JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"]));
  expect(creatives).toMatchObject([{ creativeId, weight: 3, label: "Rye Mill", callToAction: "Taste it" }]);

  await desk.goto(new URL("/console/filings", desk.url()).href);
  await desk.getByRole("button", { name: "Operator of ad data" }).click();
  await dialog.getByLabel("Address").fill("https://api-sandbox.ord.vk.com");
  await dialog.getByLabel("Key").fill("key-of-the-sandbox");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  expect(JSON.parse(await stack.ads(["ord", "show", "--json"]))).toMatchObject({
    url: "https://api-sandbox.ord.vk.com",
    hasKey: true,
  });
});
