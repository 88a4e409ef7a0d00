import { expect, test } from "../console.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default" });

let botId: string;
let bots = 9_200_000_000;

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
  // Meanwhile somebody else changes another setting, which the change must leave alone.
  await stack.ads(["bots", "update", botId, "--cooldown", "90"]);
  await cap.fill("30");
  await desk.getByLabel("What a code pays").selectOption("each");
  await desk.getByLabel("Reward for a view").fill("5");
  await desk.getByLabel("Unit of the reward").fill("en: one=coin, other=coins");
  await save.click();
  await expect(saved).toBeVisible();
  const unit = { en: { one: "coin", other: "coins" } };
  const changed = { dailyCap: 30, cooldownSeconds: 90, payPerCode: "each", rewardPerView: 5, rewardUnit: unit };
  expect(await show()).toMatchObject(changed);
  await expect(desk.getByLabel("Pause between ads, s")).toHaveValue("90");

  await desk.getByLabel("Advertisers", { exact: true }).fill("Nobody & Sons");
  await save.click();
  const question = desk.getByRole("dialog", { name: "Is this meant?" });
  await expect(question).toContainText("There is no advertiser Nobody & Sons");
  expect((await show()).blockedAdvertisers).toEqual([]);
  await question.getByRole("button", { name: "Yes, do it" }).click();
  await expect.poll(async () => (await show()).blockedAdvertisers).toEqual(["Nobody & Sons"]);
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
    await expect(desk.getByRole("button", { name: "Save", exact: true })).toHaveCount(0);
  });
});
