import { migrations } from "../apps/ad-service/src/migrations.ts";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { analyze } from "./axe.ts";
import { expect, test, windows } from "./console.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default" });

const BOT = "9000000003";
let token: string;
let users = 600;

test.beforeAll(async ({ stack: { ads, urls } }) => {
  const bot = ["--bot-id", BOT, "--name", "Chess Club", "--suspicious-clicks", "hold", "--cooldown", "0"];
  ({ token } = JSON.parse(await ads(["bots", "add", ...bot, "--json"])));
  const campaign = ["--advertiser", "Chess Shop", "--name", "Chess boards", "--format", "direct_link", "--bots", BOT];
  const price = ["--click-price", "0.08", "--billing", "credit"];
  await ads(["campaigns", "add", ...campaign, "--landing-url", `${urls.demoBot}/landing`, ...price]);
});

/** Clicks within a second of the code's issue, which is suspicious; where the machine was slower, once more as another user. */
async function clickHeld(adService: string): Promise<{ userId: string; code: string }> {
  users += 1;
  const userId = String(users);
  const startedAt = performance.now();
  const answer = await fetch(`${adService}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: BOT, user_tg_id: userId }),
  });
  const { code, direct_link: link } = (await answer.json()) as { code: string; direct_link: string };
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": `198.51.100.${users % 250}` };
  expect((await fetch(link, { redirect: "manual", headers })).status).toBe(302);
  return performance.now() - startedAt < 1000 ? { userId, code } : clickHeld(adService);
}

/** Two views that were rewarded if they were not held: what makes a view suspicious takes longer than a test may. */
async function holdViews({ dataDirectory }: DemoStack): Promise<void> {
  const database = await openDatabase({ dataDirectory, schema: "ad_service", migrations });
  users += 2;
  const text = `insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline,
      closed_at, close_reason, token_hash, state, suspicions)
    select $1::text, $1 || '-' || code_week_at(now()) || 'h' || substr(md5($2::integer + n || 'x'), 1, 22),
      code_week_at(now()) || 'held' || ($2::integer + n), ($2::integer - n)::text,
      (select campaign_id from campaigns where name = 'Chess boards'), (select min(creative_id) from creatives), 2000, now(),
      now(), now(), 'tap', '\\x00', 'held', '{too-even}'
    from generate_series(0, 1) as n`;
  await database.run({ name: "", text }, [BOT, users]);
  await database.close();
}

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ window: size });

    test("what happened to a code is found by its id in three steps, by keyboard alone or by pressing", {
      tag: "@long",
    }, async ({ reader, stack }) => {
      const { page } = reader;
      const { code, userId } = await clickHeld(stack.urls.adService);
      const steps = page.getByRole("region", { name: "What happened" }).getByRole("listitem");
      await reader.open();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await reader.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").waitFor();
      await reader.type(code);
      await page.getByRole("option", { name: `What happened to ${code}?` }).waitFor();
      await reader.press("Enter");
      await expect(steps.filter({ hasText: "Click held for review" })).toContainText("right after the code was issued");
      await expect(steps.last()).toContainText("The bot got a code");
      expect(reader.steps).toBeLessThanOrEqual(3);
      expect(page.url()).toContain(`find=${code}`);

      await reader.open();
      await reader.click(reader.section("Users and codes"));
      await reader.click(page.getByRole("searchbox"));
      await reader.type(userId);
      await expect(page.getByText("Earned today")).toBeVisible();
      await expect(steps.filter({ hasText: "Click held for review" })).toContainText("right after the code was issued");
      expect(reader.steps).toBeLessThanOrEqual(3);
      expect((await analyze(page)).violations).toEqual([]);
    });

    test("held clicks are released in three steps, all that match at once and counted first; one is refused by itself", {
      tag: "@long",
    }, async ({ reader, stack }) => {
      const { page } = reader;
      const one = await clickHeld(stack.urls.adService);
      await clickHeld(stack.urls.adService);
      const held = async () =>
        JSON.parse(await stack.ads(["clicks", "list", "--bot-id", BOT, "--state", "held", "--json"])).length;
      const before = await held();
      expect(before).toBeGreaterThanOrEqual(2);
      await reader.open();
      await reader.click(page.getByRole("link", { name: /held clicks? waits? for a decision/ }));
      await expect(page.getByRole("row").filter({ hasText: one.userId })).toContainText(
        "right after the code was issued",
      );
      expect((await analyze(page)).violations).toEqual([]);
      await reader.click(page.getByRole("button", { name: "Refuse clk_", exact: false }).first());
      await expect(page.getByRole("dialog")).toContainText("It is not paid, and its user gets no reward.");
      expect(await held()).toBe(before);
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Refuse clk_", exact: false }).first().click();
      await reader.click(page.getByRole("dialog").getByRole("button", { name: "Refuse", exact: true }));
      await expect.poll(held).toBe(before - 1);
      expect(reader.steps).toBeLessThanOrEqual(3);

      await reader.open();
      await reader.click(page.getByRole("link", { name: /held clicks? waits? for a decision/ }));
      await reader.click(page.getByRole("button", { name: "Release all that match" }));
      await expect(page.getByRole("dialog")).toContainText(`Held clicks that are paid: ${before - 1}`);
      expect(await held()).toBe(before - 1);
      await reader.click(page.getByRole("dialog").getByRole("button", { name: "Release all that match" }));
      await page.getByText(`Decided: ${before - 1}.`).waitFor();
      expect(reader.steps).toBeLessThanOrEqual(3);
      expect(await held()).toBe(0);
      await page.getByText("Nothing waits for a decision.").waitFor();
    });

    test("held views are refused or released in three steps, all that match at once and counted first", async ({
      reader,
      stack,
    }) => {
      const { page } = reader;
      const inState = async (state: string) =>
        JSON.parse(await stack.ads(["views", "list", "--bot-id", BOT, "--state", state, "--json"])).length;
      for (const [decision, state] of [
        ["Refuse", "refused"],
        ["Release", "rewarded"],
      ] as const) {
        await holdViews(stack);
        const before = await inState(state);
        await reader.open();
        await reader.click(page.getByRole("link", { name: "2 held views wait for a decision" }));
        await reader.click(page.getByRole("button", { name: `${decision} all that match` }));
        await expect(page.getByRole("dialog")).toContainText("2");
        expect(await inState("held")).toBe(2);
        await reader.click(page.getByRole("dialog").getByRole("button", { name: `${decision} all that match` }));
        await page.getByText("Decided: 2.").waitFor();
        expect(reader.steps).toBeLessThanOrEqual(3);
        expect([await inState("held"), await inState(state)]).toEqual([0, before + 2]);
      }
    });
  });
}

test("what comes while the reader is asked is not decided with what was counted", { tag: "@long" }, async ({
  desk,
  stack,
}) => {
  const first = await clickHeld(stack.urls.adService);
  await desk.goto("reviews?of=clicks");
  await expect(desk.getByRole("row").filter({ hasText: first.userId })).toBeVisible();
  await desk.getByRole("button", { name: "Refuse all that match" }).click();
  await expect(desk.getByRole("dialog")).toContainText("refused");
  const later = await clickHeld(stack.urls.adService);
  await desk.getByRole("dialog").getByRole("button", { name: "Refuse all that match" }).click();
  await desk.getByText(/Decided: \d+\./).waitFor();
  await expect(desk.getByRole("row").filter({ hasText: later.userId })).toBeVisible();
  await expect(desk.getByRole("row").filter({ hasText: first.userId })).toHaveCount(0);
});

test("a search for a user says what is no id, and takes a pasted one with blanks around it", { tag: "@long" }, async ({
  desk,
  stack,
}) => {
  const { userId } = await clickHeld(stack.urls.adService);
  for (const [path, label] of [
    ["reviews?of=clicks", "Id of a user"],
    [`explain?bot=${BOT}`, "User id"],
  ] as const) {
    await desk.goto(path);
    const field = desk.getByRole("searchbox", { name: label });
    await field.fill("@ann");
    await expect(desk.getByRole("alert")).toHaveText("The id of a user has digits only: correct it to search.");
    await expect(field).toHaveAttribute("aria-invalid", "true");
    expect(new URL(desk.url()).searchParams.get("user")).toBeNull();
    await field.fill(` ${userId}\t`);
    await expect.poll(() => new URL(desk.url()).searchParams.get("user")).toBe(userId);
    await expect(desk.getByRole("alert")).toHaveCount(0);
  }
});
