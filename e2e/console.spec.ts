import type { Locator } from "@playwright/test";
import { Secret, TOTP } from "otpauth";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { analyze } from "./axe.ts";
import { expect, openReceiver, test, windows } from "./console.ts";

// Each worker would start a stack, and make the same bots and campaigns.
test.describe.configure({ mode: "default" });

const BOT = "9000000001";
let token: string;
let receiver: Awaited<ReturnType<typeof openReceiver>>;

/** A bot whose webhooks failed, and campaigns that only it shows, so that other specs of this stack see none of them. */
test.beforeAll(async ({ stack }) => {
  receiver = await openReceiver();
  const { ads } = stack;
  const bot = ["--bot-id", BOT, "--name", "Quiz of the Day", "--webhook-url", receiver.state.url];
  const added = JSON.parse(
    await ads(["bots", "add", ...bot, "--delivery-mode", "at-most-once", "--suspicious-clicks", "pay", "--json"]),
  );
  const campaign = async (advertiser: string, name: string, ...more: string[]) =>
    ads([
      "campaigns",
      "add",
      "--advertiser",
      advertiser,
      "--name",
      name,
      "--format",
      "direct_link",
      "--bots",
      BOT,
      "--landing-url",
      `${stack.urls.demoBot}/landing`,
      "--billing",
      "credit",
      ...more,
    ]);
  await campaign("Nord Tea", "Spring blend", "--click-price", "0.08", "--daily-budget", "20");
  await campaign("Nord Tea", "Gift boxes", "--click-price", "0.05", "--total-budget", "300");
  await campaign("Bike Works", "City bikes", "--click-price", "0.08", "--languages", "fi");
  token = added.token;
});
test.afterAll(async () => {
  await receiver.close();
});

let users = 0;

/** Earns an event that the receiver refuses, which is not sent again by itself; then the endpoint is disabled. */
async function failOnce({ urls, ads }: DemoStack): Promise<void> {
  receiver.state.status = 500;
  await ads(["endpoints", "enable", BOT, "--skip-test"]);
  users += 1;
  const code = await fetch(`${urls.adService}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: BOT, user_tg_id: String(4242 + users) }),
  });
  const { direct_link: link } = (await code.json()) as { direct_link: string };
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": `198.51.100.${70 + users}` };
  expect((await fetch(link, { redirect: "manual", headers })).status).toBe(302);
  const failed = async () =>
    JSON.parse(await ads(["deliveries", "list", "--bot-id", BOT, "--state", "failed", "--json"]));
  await expect.poll(async () => (await failed()).some(({ isTest }: { isTest: boolean }) => !isTest)).toBe(true);
  await ads(["endpoints", "disable", BOT]);
}

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ window: size });
    test.beforeAll(({ stack }) => failOnce(stack));

    test("what needs attention leads to where it is dealt with, in one click or by keyboard alone", async ({
      reader,
    }) => {
      const { page } = reader;
      await reader.open();
      await reader.click(page.getByRole("link", { name: "Quiz of the Day: webhooks are disabled" }));
      await page.getByRole("heading", { name: "Quiz of the Day" }).waitFor();
      expect(reader.steps).toBeLessThanOrEqual(3);
      await reader.open();
      const link = page.getByRole("link", { name: "Quiz of the Day: webhooks are disabled" });
      await link.waitFor();
      for (let tabs = 0; tabs < 40 && !(await isFocused(link)); tabs += 1) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Quiz of the Day" }).waitFor();
    });

    test("why a bot shows no ad is explained for each campaign, in two clicks or with three keys", async ({
      reader,
    }) => {
      const { page } = reader;
      await reader.open();
      await reader.click(reader.section("Why no ad?"));
      await reader.choose(page.getByLabel("Bot"), "Quiz of the Day");
      await reader.choose(page.getByLabel("Format"), "direct link");
      await expect(reader.row("City bikes")).toContainText("it targets other languages");
      expect(reader.steps).toBeLessThanOrEqual(3);
      await reader.open();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await reader.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").waitFor();
      await reader.type("why quiz");
      await page.getByRole("option", { name: "Why does Quiz of the Day show no ad?" }).waitFor();
      await reader.press("Enter");
      await expect(reader.row("City bikes")).toContainText("it has another format");
      expect(reader.steps).toBeLessThanOrEqual(3);
    });

    test("a budget is raised in the list, in three steps or by keyboard alone, and the change is taken back", async ({
      reader,
      stack,
    }) => {
      const { page } = reader;
      const budget = async () => {
        const campaigns = JSON.parse(await stack.ads(["campaigns", "list", "--json"]));
        return campaigns.find((one: { name: string }) => one.name === "Spring blend").dailyBudgetMicros;
      };
      const cell = page.getByRole("button", { name: "Change the daily budget of Spring blend" });
      await reader.open();
      await reader.click(reader.section("Campaigns"));
      await reader.click(cell);
      await page.keyboard.type("25");
      await reader.press("Enter");
      await expect(cell).toContainText("$25.00");
      expect(reader.steps).toBeLessThanOrEqual(3);
      expect(await budget()).toBe(25_000_000);
      await page.getByRole("button", { name: "Undo" }).click();
      await expect(cell).toContainText("$20.00");

      await reader.open();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("c");
      await cell.waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("Spring");
      for (let tabs = 0; tabs < 40 && !(await isFocused(cell)); tabs += 1) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.keyboard.type("2,5");
      await page.keyboard.press("Enter");
      await expect(page.getByRole("alert").filter({ hasText: "write 2.5" })).toBeVisible();
      await page.keyboard.press("Escape");
      await expect(cell).toBeFocused();
      expect(await budget()).toBe(20_000_000);
    });

    test("everything of an advertiser is paused in three clicks, and taken back in one", async ({ reader }) => {
      const { page } = reader;
      await reader.open();
      await reader.click(reader.section("Campaigns"));
      await reader.choose(page.getByLabel("Advertiser"), "Nord Tea");
      await reader.click(page.getByRole("button", { name: "Pause all 2" }));
      await expect(page.getByRole("cell", { name: "paused" })).toHaveCount(2);
      expect(reader.steps).toBeLessThanOrEqual(3);
      expect(page.url()).toContain("advertiser=Nord+Tea");
      await page.getByRole("button", { name: "Undo" }).click();
      await expect(page.getByRole("cell", { name: "running" })).toHaveCount(2);
    });

    test("a campaign is duplicated with other dates in three clicks, and archived with a time to take it back", async ({
      reader,
      stack,
    }) => {
      const { page } = reader;
      await reader.open();
      await reader.click(reader.section("Campaigns"));
      await reader.click(page.getByRole("button", { name: "Duplicate City bikes", exact: true }));
      await page.getByLabel("Starts").fill("2030-03-01T08:00");
      await page.getByLabel("Ends").fill("2030-04-01T08:00");
      await reader.click(page.getByRole("button", { name: "Create" }));
      await page.getByRole("heading", { name: "City bikes (copy)" }).waitFor();
      expect(reader.steps).toBeLessThanOrEqual(3);
      await expect(page.getByLabel("Ends")).toHaveValue("2030-04-01T08:00");
      await page.getByText("Which users see it").click();
      await expect(page.getByRole("checkbox", { name: "Finnish (fi)" })).toBeChecked();
      await page.getByRole("button", { name: "Archive" }).click();
      await page.getByText("paused by the operator", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("planned", { exact: true }).waitFor();

      await page.getByRole("button", { name: "Archive" }).click();
      await page.getByText("paused by the operator", { exact: true }).waitFor();
      const { pathname } = new URL(page.url());
      const campaignId = pathname.split("/").at(-1) ?? "";
      // Whoever leaves the page before the time to take it back is over has archived it.
      await page.goto("about:blank");
      const status = async () => JSON.parse(await stack.ads(["campaigns", "show", campaignId, "--json"])).status;
      await expect.poll(status).toBe("archived");
    });

    test("all that failed since a moment is counted, and sent again, in three clicks", async ({ reader, stack }) => {
      const { page } = reader;
      receiver.state.status = 200;
      receiver.state.received = [];
      await stack.ads(["endpoints", "enable", BOT, "--skip-test"]);
      await reader.open();
      await reader.click(reader.section("Bots"));
      await reader.click(page.getByRole("button", { name: "Resend failed: Quiz of the Day" }));
      await page.getByText("Events to send again: 1, unchanged").waitFor();
      await reader.click(page.getByRole("button", { name: "Send 1 again" }));
      await expect.poll(() => receiver.state.received.length).toBe(1);
      expect(reader.steps).toBeLessThanOrEqual(3);
      await stack.ads(["endpoints", "disable", BOT]);
    });
  });
}

test("an invited person sets a password, signs out, and signs in with password and code", async ({
  browser,
  stack,
}) => {
  const page = await browser.newPage({ isMobile: false, viewport: { width: 1280, height: 800 } });
  const email = `ann${Date.now()}@example.com`;
  const { link } = JSON.parse(await stack.ads(["people", "add", email, "--role", "analyst", "--json"]));
  await page.goto(link);
  const key = (await page.locator(".totp code").textContent()) ?? "";
  const totp = new TOTP({ secret: Secret.fromBase32(key.replaceAll(" ", "")) });
  const password = "correct horse battery";
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("Code", { exact: true }).fill(totp.generate());
  await page.getByRole("button", { name: "Set password and sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  // An analyst reads: nothing offers a change.
  await page.getByRole("link", { name: "Campaigns" }).click();
  await page.getByRole("table").waitFor();
  await expect(page.getByRole("button", { name: /Change the|Pause|Archive|Duplicate/ })).toHaveCount(0);
  await page.getByText(email).filter({ visible: true }).click();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill("a wrong password");
  await page.getByLabel("Code", { exact: true }).fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("The e-mail address, the password or the code is wrong").waitFor();
  await page.getByLabel("Password").fill(password);
  // Codes work once: this one is the next.
  await page.getByLabel("Code", { exact: true }).fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  // At the address where the person was.
  await page.getByRole("heading", { name: "Campaigns" }).waitFor();
  await page.close();
});

test("a person changes the password, signs in elsewhere with a recovery code, and ends that session", {
  tag: "@long",
}, async ({ browser, stack }) => {
  const open = () => browser.newPage({ isMobile: false, viewport: { width: 1280, height: 800 } });
  const page = await open();
  const email = `bob${Date.now()}@example.com`;
  const { link } = JSON.parse(await stack.ads(["people", "add", email, "--role", "analyst", "--json"]));
  await page.goto(link);
  const key = (await page.locator(".totp code").textContent()) ?? "";
  const totp = new TOTP({ secret: Secret.fromBase32(key.replaceAll(" ", "")) });
  await page.getByLabel("New password").fill("correct horse battery");
  await page.getByLabel("Code", { exact: true }).fill(totp.generate());
  await page.getByRole("button", { name: "Set password and sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.goto(new URL("/console/account", link).href);
  const dialog = page.getByRole("dialog");

  await page.getByRole("button", { name: "Change the password" }).click();
  await dialog.getByLabel("Present password").fill("a wrong password");
  await dialog.getByLabel("New password").fill("staple battery horse");
  await dialog.getByLabel("Code", { exact: true }).fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await dialog.getByRole("button", { name: "Change the password" }).click();
  await dialog.getByText("Is wrong, or the code is not the one").waitFor();
  await dialog.getByLabel("Present password").fill("correct horse battery");
  await dialog.getByLabel("Code", { exact: true }).fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await dialog.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The password is changed.").waitFor();

  await page.getByText("You have none.").waitFor();
  await page.getByRole("button", { name: "Make new recovery codes" }).click();
  const [code = ""] = ((await dialog.locator("code").textContent()) ?? "").split("\n");
  expect((await analyze(page)).violations).toEqual([]);
  await dialog.getByText("Close").click();
  await page.getByText("10 are left.").waitFor();

  const other = await open();
  await other.goto(new URL("/console/", link).href);
  await other.getByLabel("E-mail address").fill(email);
  await other.getByLabel("Password").fill("staple battery horse");
  await other.getByLabel("Code", { exact: true }).fill(code);
  await other.getByRole("button", { name: "Sign in", exact: true }).click();
  await other.getByRole("heading", { name: "Overview" }).waitFor();
  await page.reload();
  await page.getByText("9 are left.").waitFor();
  await expect(page.getByRole("table", { name: "Sessions" }).getByText("this browser")).toHaveCount(1);
  await page.getByRole("button", { name: /^End the session of / }).click();
  await page.getByText("The session has ended.").waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  await page.close();
  await other.close();
});

test("signing out ends the session, and a link that was used signs nobody in", { tag: "@long" }, async ({
  browser,
  stack,
}) => {
  const page = await browser.newPage({ isMobile: false, viewport: { width: 1280, height: 800 } });
  const link = await stack.signInLink();
  await page.goto(link);
  await page.getByText("owner@demo.example").filter({ visible: true }).click();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await expect(page.getByText("Your session has ended")).toHaveCount(0);
  expect((await analyze(page)).violations).toEqual([]);
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goto(link);
  await page.getByText("This link was used or has expired").waitFor();
  await page.close();
});

test("signing out everywhere ends what another browser shows with its next question, and it asks to sign in there", {
  tag: "@long",
}, async ({ browser, stack }) => {
  const EMAIL = "everywhere@example.com";
  await stack.ads(["people", "add", EMAIL, "--role", "ad-ops"]);
  const open = async () => {
    const context = await browser.newContext({ isMobile: false, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(JSON.parse(await stack.ads(["people", "sign-in-link", EMAIL, "--json"])).link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    return page;
  };
  const [watched, other] = [await open(), await open()];
  await watched.getByRole("link", { name: "System", exact: true }).click();
  await watched.getByRole("heading", { name: "System" }).waitFor();
  const address = watched.url();
  await other.getByText(EMAIL).filter({ visible: true }).click();
  await other.getByRole("button", { name: "Sign out everywhere" }).click();
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  const refused = watched.waitForResponse((answer) => answer.status() === 401);
  await watched.clock.fastForward(20_000);
  expect(new URL((await refused).url()).pathname).toMatch("/operator/v1/system");
  await watched.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(watched.url()).toBe(address);
  await expect(watched.getByRole("heading", { name: "System" })).toHaveCount(0);
  await Promise.all([watched.context().close(), other.context().close()]);
});

async function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement).catch(() => false);
}
