import type { Page } from "@playwright/test";
import { analyze } from "./axe.ts";
import { test } from "./console-desk.ts";
import { expect } from "./stack.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default" });

const BOT = "9000000003";
let token: string;
let users = 600;

test.beforeAll(async ({ stack: { ads, urls } }) => {
  const bot = ["--bot-id", BOT, "--name", "Chess Club", "--suspicious-clicks", "hold", "--cooldown", "0"];
  ({ token } = JSON.parse(await ads(["bots", "add", ...bot, "--json"])));
  const campaign = ["--advertiser", "Chess Shop", "--name", "Chess boards", "--format", "direct_link", "--bots", BOT];
  await ads(["campaigns", "add", ...campaign, "--landing-url", `${urls.demoBot}/landing`, "--click-price", "0.08"]);
});

/** Clicks right after the code was issued, which is suspicious. Returns user and code. */
async function clickHeld(adService: string): Promise<{ userId: string; code: string }> {
  users += 1;
  const userId = String(users);
  const answer = await fetch(`${adService}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: BOT, user_tg_id: userId }),
  });
  const { code, direct_link: link } = (await answer.json()) as { code: string; direct_link: string };
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": `198.51.100.${users % 250}` };
  expect((await fetch(link, { redirect: "manual", headers })).status).toBe(302);
  return { userId, code };
}

const windows = [
  { name: "desk", size: { width: 1280, height: 800 }, tag: [] },
  { name: "phone", size: { width: 390, height: 844 }, tag: "@long" },
];

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ window: size });

    const openSection = async (page: Page, title: string) => {
      if (name === "phone") await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("link", { name: title, exact: true }).filter({ visible: true }).click();
    };

    test("what happened to a code is found by its id with three keys, up to the click that waits for review", async ({
      desk,
      stack,
    }) => {
      const { code, userId } = await clickHeld(stack.urls.adService);
      await desk.keyboard.press("g");
      await desk.keyboard.press("t");
      await desk.getByRole("heading", { name: "Users and codes" }).waitFor();
      await desk.keyboard.press("/");
      await desk.keyboard.type(code);
      const steps = desk.getByRole("region", { name: "What happened" }).getByRole("listitem");
      await expect(steps.filter({ hasText: "Click held for review" })).toContainText("right-after-issue");
      await expect(steps.first()).toContainText("The bot got a code");
      expect(desk.url()).toContain(`find=${code}`);
      await desk.getByRole("link", { name: userId }).click();
      await expect(desk.getByText("Earned today")).toBeVisible();
      expect((await analyze(desk)).violations).toEqual([]);
    });

    test("held clicks are released, and refused, all that match at once, and counted first", async ({
      desk,
      stack,
    }) => {
      const one = await clickHeld(stack.urls.adService);
      await clickHeld(stack.urls.adService);
      const held = async () =>
        JSON.parse(await stack.ads(["clicks", "list", "--bot-id", BOT, "--state", "held", "--json"])).length;
      const before = await held();
      expect(before).toBeGreaterThanOrEqual(2);
      await openSection(desk, "Review");
      await desk.getByLabel("What").selectOption("Clicks");
      await expect(desk.getByRole("row").filter({ hasText: one.userId })).toContainText(
        "right after the code was issued",
      );
      expect((await analyze(desk)).violations).toEqual([]);
      await desk.getByRole("button", { name: `Refuse clk_`, exact: false }).first().click();
      await expect.poll(held).toBe(before - 1);
      await desk.getByRole("button", { name: "Release all that match" }).click();
      await expect(desk.getByRole("dialog")).toContainText(`held clicks that are paid: ${before - 1}`);
      expect(await held()).toBe(before - 1);
      await desk.getByRole("button", { name: "Yes, do it" }).click();
      await desk.getByText(`Decided: ${before - 1}.`).waitFor();
      expect(await held()).toBe(0);
      await desk.getByText("Nothing waits for a decision.").waitFor();
    });
  });
}

test.describe("in the dark, in Russian", { tag: "@long" }, () => {
  test.use({ colorScheme: "dark", locale: "ru-RU" });
  test("users, reviews and conversions have no axe violations", async ({ desk }) => {
    for (const path of ["timeline?find=601", "reviews?of=clicks&state=paid", "conversions"]) {
      await desk.goto(new URL(`/console/${path}`, desk.url()).href);
      await desk.locator("h1").waitFor();
      await desk.waitForLoadState("networkidle");
      expect((await analyze(desk)).violations, path).toEqual([]);
    }
  });
});
