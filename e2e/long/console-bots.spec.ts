import { expect, find, hold, test } from "../console.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default" });

let botId: string;
let bots = 9_200_000_100;

test.beforeEach(async ({ stack }) => {
  bots += 1;
  botId = String(bots);
  await stack.ads(["bots", "add", "--bot-id", botId, "--name", "Word Duel", "--daily-cap", "12", "--json"]);
});

test("settings are changed in place: only what was typed, with faults and questions beside it", async ({
  desk,
  stack,
}) => {
  const show = async () => JSON.parse(await stack.ads(["bots", "show", botId, "--json"]));
  const save = desk.getByRole("button", { name: "Save", exact: true });
  const saved = desk.getByText("Saved", { exact: true });
  await desk.goto(`bots/${botId}`);
  const cap = desk.getByLabel("Ads per user and day");
  await cap.fill("0");
  await save.click();
  await expect(desk.getByText("Must be 1 or more.")).toBeVisible();
  await expect(cap).toBeFocused();
  await cap.fill("30");
  await desk.getByLabel("What a code pays").selectOption("each");
  await desk.getByLabel("Reward for a view").fill("5");
  await desk.getByLabel("Unit of the reward").fill("en: one=coin, other=coins");
  await save.click();
  await expect(saved).toBeVisible();
  const unit = { en: { one: "coin", other: "coins" } };
  expect(await show()).toMatchObject({ dailyCap: 30, payPerCode: "each", rewardPerView: 5, rewardUnit: unit });

  await desk.getByLabel("Advertisers", { exact: true }).fill("Nobody & Sons");
  await save.click();
  const question = desk.getByRole("dialog", { name: "Is this meant?" });
  await expect(question).toContainText("There is no advertiser Nobody & Sons");
  expect((await show()).blockedAdvertisers).toEqual([]);
  await question.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await show()).blockedAdvertisers).toEqual(["Nobody & Sons"]);
});

test("of two people who change the same bot, the second one is told, and overwrites nothing unasked", async ({
  desk,
  stack,
}) => {
  const show = async () => JSON.parse(await stack.ads(["bots", "show", botId, "--json"]));
  const set = (...settings: string[]) => stack.ads(["bots", "update", botId, ...settings]);
  const save = desk.getByRole("button", { name: "Save", exact: true });
  await desk.goto(`bots/${botId}`);
  const address = desk.getByLabel("Webhook address", { exact: true });
  const delivery = desk.getByLabel("Delivery", { exact: true });
  await address.fill("https://mine.example/webhooks");
  await delivery.selectOption("at-most-once");
  await set("--webhook-url", "https://theirs.example/webhooks", "--cooldown", "90", "--delivery-mode", "at-most-once");
  await save.click();
  await expect(desk.getByText("Nothing is saved: another person has changed this bot")).toBeVisible();
  expect((await show()).webhookUrl).toBe("https://theirs.example/webhooks");
  const conflict = desk.getByRole("alert").filter({ hasText: "It is now" });
  // Both have chosen the same delivery.
  await expect(conflict.getByRole("term")).toHaveText(["Webhook address"]);
  await expect(conflict).toContainText("https://theirs.example/webhooks");
  await conflict.getByRole("button", { name: "Keep what I typed" }).click();
  await expect(address).toHaveValue("https://mine.example/webhooks");
  // Where only the other one has typed, the value is there.
  await expect(desk.getByLabel("Pause between ads, s")).toHaveValue("90");
  await save.click();
  await expect(desk.getByText("Saved", { exact: true })).toBeVisible();
  const stored = { webhookUrl: "https://mine.example/webhooks", cooldownSeconds: 90, deliveryMode: "at-most-once" };
  expect(await show()).toMatchObject(stored);

  const views = desk.getByLabel("Suspicious views");
  await views.selectOption("hold");
  await set("--suspicious-views", "refuse");
  await save.click();
  await expect(conflict).toContainText("are refused");
  await conflict.getByRole("button", { name: "Take these values" }).click();
  await expect(views).toHaveValue("refuse");
});

test("a tester that another person adds while the list is changed stays", async ({ desk, stack }) => {
  const testers = async () => JSON.parse(await stack.ads(["bots", "show", botId, "--json"])).testers;
  await desk.goto(`bots/${botId}`);
  const panel = desk.getByRole("region", { name: "Testers" });
  await panel.getByLabel("Telegram id of a user").fill("777");
  // The list has been read; its change is under way.
  const goOn = await hold(desk, "PATCH", `**/operator/v1/bots/${botId}*`);
  const isUnderWay = desk.waitForRequest((request) => request.method() === "PATCH");
  await panel.getByRole("button", { name: "Add" }).click();
  await isUnderWay;
  await stack.ads(["bots", "update", botId, "--tester", "4242"]);
  goOn();
  await expect(panel.getByRole("button", { name: "Remove: 777" })).toBeVisible();
  expect(await testers()).toEqual(["4242", "777"]);
});

test("testers are added and removed, and what another person has added meanwhile stays", async ({ desk, stack }) => {
  const testers = async () => JSON.parse(await stack.ads(["bots", "show", botId, "--json"])).testers;
  await desk.goto(`bots/${botId}`);
  const panel = desk.getByRole("region", { name: "Testers" });
  const id = panel.getByLabel("Telegram id of a user");
  const add = panel.getByRole("button", { name: "Add" });
  await expect(panel).toContainText("This bot has no tester.");
  await id.fill("@ann");
  await add.click();
  await expect(panel.getByRole("alert")).toHaveText(/digits/);
  await stack.ads(["bots", "update", botId, "--tester", "4242"]);
  await id.fill("777");
  await add.click();
  await expect(panel.getByRole("button", { name: "Remove: 777" })).toBeVisible();
  expect(await testers()).toEqual(["4242", "777"]);
  await expect(id).toHaveValue("");
  await panel.getByRole("button", { name: "Remove: 4242" }).click();
  await expect(panel.getByRole("button", { name: "Remove: 4242" })).toBeHidden();
  expect(await testers()).toEqual(["777"]);
  await desk.getByRole("button", { name: "Undo" }).click();
  await expect.poll(testers).toEqual(["777", "4242"]);
});

test("what is typed while the settings are saved stays, and is saved next", async ({ desk, stack }) => {
  const show = async () => JSON.parse(await stack.ads(["bots", "show", botId, "--json"]));
  const save = desk.getByRole("button", { name: "Save", exact: true });
  const goOn = await hold(desk, "PATCH", `**/operator/v1/bots/${botId}*`);
  await desk.goto(`bots/${botId}`);
  const cap = desk.getByLabel("Ads per user and day");
  const pause = desk.getByLabel("Pause between ads, s");
  const username = desk.getByLabel("Username");
  await cap.fill("30");
  await username.fill("@word_duel_bot");
  await save.click();
  await expect(save).toHaveAttribute("aria-busy", "true");
  await pause.fill("45");
  goOn();
  await expect(desk.getByText("Saved", { exact: true })).toBeVisible();
  await expect(cap).toHaveValue("30");
  // As it is stored.
  await expect(username).toHaveValue("word_duel_bot");
  await expect(pause).toHaveValue("45");
  await save.click();
  await expect.poll(async () => (await show()).cooldownSeconds).toBe(45);
});

test("the form of one bot is never that of another, which the finder opens", async ({ desk, stack }) => {
  const other = `${botId}9`;
  await stack.ads(["bots", "add", "--bot-id", other, "--name", "Chess Hall", "--json"]);
  const name = desk.getByLabel("Name", { exact: true });
  // Both have been read, so that the second visit shows them at once.
  await desk.goto(`bots/${botId}`);
  await expect(name).toHaveValue("Word Duel");
  await find(desk, other, "Chess Hall");
  await expect(name).toHaveValue("Chess Hall");
  await name.fill("Chess Palace");
  await find(desk, botId, "Word Duel");
  await expect(desk.getByRole("heading", { name: "Word Duel" })).toBeVisible();
  await expect(name).toHaveValue("Word Duel");
});

test("a second change of the testers waits for the first one", async ({ desk, stack }) => {
  const testers = async () => JSON.parse(await stack.ads(["bots", "show", botId, "--json"])).testers;
  await stack.ads(["bots", "update", botId, "--tester", "4242", "--tester", "777"]);
  await desk.goto(`bots/${botId}`);
  const panel = desk.getByRole("region", { name: "Testers" });
  const other = panel.getByRole("button", { name: "Remove: 777" });
  await other.waitFor();
  // The list is read again before it is changed.
  const goOn = await hold(desk, "GET", `**/operator/v1/bots/${botId}`);
  await panel.getByRole("button", { name: "Remove: 4242" }).click();
  await expect(other).toHaveAttribute("aria-disabled", "true");
  await other.click({ force: true });
  goOn();
  await expect(panel.getByRole("button", { name: "Remove: 4242" })).toHaveCount(0);
  expect(await testers()).toEqual(["777"]);
});

test.describe("whose requests fail", () => {
  test.use({ refusal: 503 });

  test("a reward that is no number is refused, and the stored one stays, without the words of faults", async ({
    desk,
    stack,
  }) => {
    await stack.ads(["bots", "update", botId, "--reward-per-view", "5", "--reward-unit", "en: one=coin, other=coins"]);
    await desk.route("**/fault-words*", (route) => route.fulfill({ status: 503, body: "" }));
    await desk.goto(`bots/${botId}`);
    const reward = desk.getByLabel("Reward for a view");
    await reward.fill("6 coins");
    await desk.getByRole("button", { name: "Save", exact: true }).click();
    await expect(reward).toHaveAccessibleDescription(/must be a whole number/);
    expect(JSON.parse(await stack.ads(["bots", "show", botId, "--json"])).rewardPerView).toBe(5);
  });

  test("testers are left as they are where the list cannot be read", async ({ desk, stack }) => {
    await desk.goto(`bots/${botId}`);
    const panel = desk.getByRole("region", { name: "Testers" });
    await expect(panel).toContainText("This bot has no tester.");
    await stack.ads(["bots", "update", botId, "--tester", "4242"]);
    await desk.route(`**/operator/v1/bots/${botId}`, (route) =>
      route.request().method() === "GET" ? route.fulfill({ status: 503, body: "" }) : route.fallback(),
    );
    await panel.getByLabel("Telegram id of a user").fill("777");
    await panel.getByRole("button", { name: "Add" }).click();
    await expect(desk.getByText("The ad service does not answer")).toBeVisible();
    expect(JSON.parse(await stack.ads(["bots", "show", botId, "--json"])).testers).toEqual(["4242"]);
  });
});

test.describe("a publisher", () => {
  const EMAIL = "owner-of-words@example.com";
  test.use({ signedInAs: EMAIL });
  const OWN = "9200000000";
  let added: { token: string; tokenId: string };
  test.beforeAll(async ({ stack }) => {
    added = JSON.parse(await stack.ads(["bots", "add", "--bot-id", OWN, "--name", "Word Duel", "--json"]));
    await stack.ads(["people", "add", EMAIL, "--role", "publisher", "--bot-id", OWN]);
  });

  test("changes the token of its bot: both work when the next one is activated, until the old one is revoked", async ({
    desk,
    stack,
  }) => {
    const statusWith = async (token: string) => {
      const body = JSON.stringify({ bot_id: OWN, user_tg_id: "501" });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      return (await fetch(`${stack.urls.adService}/client/v1/codes`, { method: "POST", headers, body })).status;
    };
    await desk.goto(`bots/${OWN}`);
    const panel = desk.getByRole("region", { name: "API tokens" });
    await panel.getByRole("button", { name: "New token" }).click();
    const shown = desk.getByRole("dialog", { name: "New token" });
    await expect(shown).toContainText("AD_API_TOKEN");
    const token = (await shown.locator("code").textContent()) ?? "";
    expect(await statusWith(added.token)).toBe(200);
    await shown.getByRole("button", { name: "Close" }).last().click();
    // It is not shown again, and stands nowhere that outlives the window.
    await expect(desk.getByText(token)).toHaveCount(0);
    const kept = await desk.evaluate(() => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }]));
    expect(kept).not.toContain(token);

    await expect(panel.getByRole("listitem").and(desk.locator("[aria-current=step]"))).toContainText(
      "Put it first in the bot's list of tokens",
    );
    await expect(panel.getByText("next", { exact: true })).toBeVisible();
    // Who waits for the bot sees by itself which of both it uses.
    const soon = { timeout: 60_000 };
    await expect(panel).toContainText(/The old token was used \d+ minutes? ago: something still has it\./, soon);
    await expect(panel).toContainText("No request has used the new token yet");
    await expect(panel.getByRole("listitem").filter({ hasText: added.tokenId })).toContainText(
      /last used \d+ minutes? ago/,
    );
    await expect(panel.getByRole("listitem").filter({ hasText: "next" })).toContainText("never used");
    expect(await statusWith(token)).toBe(200);
    await expect(panel).toContainText(/The new token was used \d+ minutes? ago: the bot has it\./, soon);
    const listed = JSON.parse(await stack.ads(["tokens", "list", "--bot-id", OWN, "--json"]));
    for (const { lastUsedAt } of listed) expect(Date.now() - Date.parse(lastUsedAt)).toBeLessThan(600_000);
    await panel.getByRole("button", { name: "Activate" }).click();
    await expect(desk.getByRole("dialog")).toContainText("something still has it");
    await desk.getByRole("dialog").getByRole("button", { name: "Activate", exact: true }).click();
    await expect(panel).toContainText("works until");
    expect([await statusWith(added.token), await statusWith(token)]).toEqual([200, 200]);

    await panel.getByRole("button", { name: `Revoke: ${added.tokenId}` }).click();
    const question = desk.getByRole("dialog", { name: `Revoke: ${added.tokenId}` });
    // A warning, and no refusal.
    await expect(question).toContainText(/This token was used \d+ minutes? ago: something still has it\./);
    await question.getByLabel("Name of the bot").fill("Word");
    await question.getByRole("button", { name: "Revoke", exact: true }).click();
    await expect(question).toContainText("This is not Word Duel.");
    expect(await statusWith(added.token)).toBe(200);
    await question.getByLabel("Name of the bot").fill("Word Duel");
    await question.getByRole("button", { name: "Revoke", exact: true }).click();
    await expect(panel).toContainText("Revoked: 1");
    expect([await statusWith(added.token), await statusWith(token)]).toEqual([401, 200]);
  });
});

test.describe("who only reads", () => {
  const EMAIL = "reader-of-bots@example.com";
  test.beforeAll(({ stack }) => stack.ads(["people", "add", EMAIL, "--role", "analyst"]));
  test.use({ signedInAs: EMAIL });

  test("sees the facts, and nothing to change", async ({ desk }) => {
    await desk.goto(`bots/${botId}`);
    const settings = desk.getByRole("region", { name: "Settings" });
    await expect(settings).toContainText("Ads per user and day");
    await expect(settings).toContainText("12");
    await expect(desk.locator("#content").getByRole("textbox")).toHaveCount(0);
    await expect(desk.getByRole("region", { name: "API tokens" })).toContainText("active");
    await expect(desk.getByRole("button", { name: /Save|Add|Remove|New token|Revoke/ })).toHaveCount(0);
  });
});
