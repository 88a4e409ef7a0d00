import { devices, type Page } from "@playwright/test";
import { analyze } from "./axe.ts";
import { expect, test } from "./console-stack.ts";

// Each worker would start a stack.
test.describe.configure({ mode: "default" });

const windows = [
  { name: "desk", size: { width: 1280, height: 800 }, locale: "en-US", tag: [] },
  { name: "phone", size: { width: 390, height: 844 }, locale: "en-US", tag: "@long" },
];

let people = 0;
let addresses = 0;

// Wrong tries of one address are limited, and these flows make more of them than one reader would.
test.beforeEach(async ({ context }) => {
  addresses += 1;
  await context.setExtraHTTPHeaders({ "x-forwarded-for": `198.51.100.${100 + addresses}` });
});

/** A person with a role, invited by the command line: the link of the invitation. */
async function invite(
  ads: (words: string[]) => Promise<string>,
  role = "analyst",
): Promise<{ email: string; link: string }> {
  people += 1;
  const email = `sign-in-${people}-${Date.now()}@example.com`;
  const { link } = JSON.parse(await ads(["people", "add", email, "--role", role, "--json"]));
  return { email, link };
}

async function signOut(page: Page, email: string): Promise<void> {
  await page.getByText(email).filter({ visible: true }).first().click();
  await page.getByRole("button", { name: "Sign out", exact: true }).filter({ visible: true }).click();
  await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
}

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ viewport: size, userAgent: devices["Desktop Chrome"].userAgent, isMobile: false, hasTouch: false });

    test("an invited person continues with a provider, and signs in by it at the address where the person was", async ({
      page,
      stack,
      provider,
    }) => {
      provider.browser.account = { subject: `subject-${name}-${Date.now()}`, username: "eve" };
      const { email, link } = await invite(stack.ads);
      const { origin } = new URL(link);
      // Nobody has linked the account yet.
      await page.goto(`${origin}/console/campaigns`);
      await page.getByRole("button", { name: "Continue with Telegram" }).click();
      await page.getByText("Nobody here has linked this account").waitFor();
      expect((await analyze(page)).violations).toEqual([]);
      expect(page.url()).toBe(`${origin}/console/openid`);

      await page.goto(link);
      await page.getByRole("button", { name: "Continue with Telegram" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      if (name === "phone") await page.getByRole("button", { name: "Menu" }).click();
      await signOut(page, email);

      await page.goto(`${origin}/console/campaigns?status=active`);
      await page.getByRole("button", { name: "Continue with Telegram" }).click();
      await page.getByRole("heading", { name: "Campaigns" }).waitFor();
      expect(page.url()).toBe(`${origin}/console/campaigns?status=active`);

      // Signed out at the provider, too, which else would ask nothing.
      await page.context().clearCookies({ domain: "127.0.0.1" });
      provider.browser.account = undefined;
      await page.goto(`${origin}/console/account`);
      await page.getByRole("button", { name: "Link Telegram" }).click();
      await page.getByText("You have cancelled").waitFor();
      await page.getByRole("link", { name: "Back" }).click();
      await page.getByRole("heading", { name: "Linked accounts" }).waitFor();
      await page.getByText("eve · Telegram").waitFor();
    });

    test("a person adds passkeys, names and removes them, and signs in by one without a name", {
      tag: "@long",
    }, async ({ page, stack }) => {
      const session = await page.context().newCDPSession(page);
      await session.send("WebAuthn.enable");
      const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true } as const;
      await session.send("WebAuthn.addVirtualAuthenticator", {
        options: { ...options, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      });
      const { email, link } = await invite(stack.ads);
      const made = JSON.parse(await stack.ads(["people", "sign-in-link", email, "--json"]));
      const { origin } = new URL(link);
      await page.goto(made.link);
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.goto(`${origin}/console/account`);
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByLabel("Name of the passkey").fill("Phone");
      await page.getByRole("button", { name: "Continue", exact: true }).click();
      await page.getByRole("button", { name: "Rename “Phone”" }).click();
      await page.getByLabel("Name of the passkey").fill("Old phone");
      await page.getByRole("button", { name: "Rename", exact: true }).last().click();
      await page.getByRole("button", { name: "Remove “Old phone”" }).click();
      await page.getByText("is your only way to sign in").waitFor();
      expect((await analyze(page)).violations).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);

      if (name === "phone") await page.getByRole("button", { name: "Menu" }).click();
      await signOut(page, email);
      expect((await analyze(page)).violations).toEqual([]);
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      // At the address where the person was.
      await page.getByRole("heading", { name: "Passkeys" }).waitFor();
      await page.getByText("Old phone").first().waitFor();
    });
  });
}

test("an owner sees the console as a publisher, changes nothing there, and ends it, in every window", {
  tag: "@long",
}, async ({ browser, stack }) => {
  const email = `publisher-${Date.now()}@example.com`;
  await stack.ads(["people", "add", email, "--role", "publisher", "--bot-id", "7000000001"]);
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(await stack.signInLink());
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const { origin } = new URL(page.url());
  const other = await context.newPage();
  await other.goto(`${origin}/console/campaigns`);
  await other.getByRole("table").waitFor();
  await page.goto(`${origin}/console/people?find=${encodeURIComponent(email)}`);
  await page.getByRole("button", { name: `Actions: ${email}` }).click();
  await page.getByRole("button", { name: `See as ${email}` }).click();

  const banner = page.getByRole("region", { name: "Seen as another person" });
  await banner.getByText(`You see the console as ${email} (publisher).`).waitFor();
  await expect(page.getByRole("link", { name: "Publisher" }).filter({ visible: true })).not.toHaveCount(0);
  await expect(page.getByRole("link", { name: "Campaigns" })).toHaveCount(0);
  await other.getByRole("region", { name: "Seen as another person" }).waitFor();
  await page.goto(`${origin}/console/bots/7000000001`);
  await banner.waitFor();
  await page.getByRole("region", { name: "API tokens" }).waitFor();
  await expect(
    page.locator("#content").getByRole("button", { name: /^(Send a test|Disable|New token)$|^Revoke/ }),
  ).toHaveCount(0);
  expect((await analyze(page)).violations).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);

  await banner.getByRole("button", { name: "End" }).click();
  await page.getByRole("heading", { name: "People" }).waitFor();
  await expect(banner).toHaveCount(0);
  await other.getByRole("region", { name: "Seen as another person" }).waitFor({ state: "detached" });
  await context.close();
});

test("an address that a provider's answer would have leads nowhere else, with whatever it names", {
  tag: "@long",
}, async ({ page, stack }) => {
  const { link } = await invite(stack.ads);
  const { origin } = new URL(link);
  const visited: string[] = [];
  page.on("framenavigated", (frame) => visited.push(new URL(frame.url()).origin));
  for (const query of [
    "code=x&state=y&returnTo=https://evil.test",
    "code=x&state=y&redirect=//evil.test/",
    "error=access_denied",
  ]) {
    await page.goto(`${origin}/console/openid?${query}`);
    await page.getByText("began in another window").waitFor();
    await page.getByRole("link", { name: "To the sign-in page" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  }
  // What another page of this origin could have left in the tab.
  await page.evaluate(() =>
    sessionStorage.setItem("console-openid", JSON.stringify({ purpose: "sign-in", path: "//evil.test/" })),
  );
  await page.goto(`${origin}/console/openid?code=x&state=y`);
  expect(await page.getByRole("link", { name: "To the sign-in page" }).getAttribute("href")).toBe("/console/");
  expect(new Set(visited)).toEqual(new Set([origin]));
});

test("a screen that cannot be loaded without a connection says so, and is there once it is back", {
  tag: "@long",
}, async ({ browser, stack, ownerState }) => {
  const baseURL = `${stack.urls.adService.replace("127.0.0.1", "localhost")}/console/`;
  // A page of its own: the browser reports each lost request as an error.
  const context = await browser.newContext({
    storageState: ownerState,
    baseURL,
    viewport: { width: 1280, height: 800 },
  });
  const page = await context.newPage();
  await page.goto("");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await context.setOffline(true);
  await page.getByRole("navigation").getByRole("link", { name: "People", exact: true }).click();
  const failure = page.getByRole("alert").filter({ hasText: "The ad service does not answer" });
  await expect(failure).toBeVisible();
  await failure.getByRole("button", { name: "Try again" }).click();
  await expect(failure, "still without a connection").toBeVisible();
  await context.setOffline(false);
  await failure.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { name: "People", level: 1 })).toBeVisible();
  await context.close();
});
