import type { Page } from "@playwright/test";
import { expect, test } from "../console.ts";

const EMAIL = "seen-as@example.com";

/** What can be pressed on a page, apart from what leads to another one. */
const buttonsOf = (page: Page) => page.locator("#content").getByRole("button").filter({ visible: true });

test("seen as another person, every screen of that role is there, and no button changes anything", async ({
  desk,
  stack,
}) => {
  test.slow();
  const bot = ["--bot-id", "9300000001", "--name", "Seen Bot", "--webhook-url", `${stack.urls.adService}/nowhere`];
  await stack.ads(["bots", "add", ...bot, "--tester", "42", "--json"]);
  await stack.ads(["tokens", "create", "--bot-id", "9300000001"]);
  const direct = [
    "--format",
    "direct_link",
    "--landing-url",
    "https://shop.example/",
    "--click-price",
    "0.05",
    "--billing",
    "credit",
  ];
  const campaign = ["--advertiser", "Seen Shop", "--name", "Seen campaign", ...direct, "--daily-budget", "5", "--yes"];
  const { campaignId } = JSON.parse(await stack.ads(["campaigns", "add", ...campaign, "--json"]));
  const advertisers: { advertiserId: string; name: string }[] = JSON.parse(
    await stack.ads(["advertisers", "list", "--json"]),
  );
  const shop = advertisers.find(({ name }) => name === "Seen Shop");
  await stack.ads(["people", "add", EMAIL, "--role", "ad-ops"]);
  await desk.goto("bots/9300000001");
  // Who may change something has what changes it, in each part of this screen.
  for (const name of ["Suspend", "Disable", "Activate", "Revoke", "Add", "Save", "Save: Notices"])
    await expect(buttonsOf(desk).and(desk.getByRole("button", { name })).first()).toBeVisible();
  const sections = desk.getByRole("navigation", { name: "Sections" }).getByRole("link");
  await desk.goto(`people?find=${encodeURIComponent(EMAIL)}`);
  await desk.getByRole("button", { name: `Actions: ${EMAIL}` }).click();
  await desk.getByRole("button", { name: `See as ${EMAIL}` }).click();
  await expect(desk.getByText("Nothing can be changed, so what changes something is not shown.")).toBeVisible();
  // Of this screen the role is told by a route that changes something.
  await expect(sections.filter({ hasText: "Approval" })).toHaveCount(1);

  const changes: string[] = [];
  desk.on("request", (request) => {
    const isRead = ["GET", "HEAD"].includes(request.method());
    if (!isRead && request.url().includes("/operator/")) changes.push(`${request.method()} ${request.url()}`);
  });
  const addresses = await sections.evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
  const { origin } = new URL(desk.url());
  for (const path of [
    "bots/9300000001",
    `campaigns/${campaignId}`,
    `advertisers/${shop?.advertiserId}`,
    "publisher?bot=9300000001",
  ])
    addresses.push(`${origin}/console/${path}`);
  const pressed: string[] = [];
  for (const address of addresses) {
    await desk.goto(address);
    await desk.locator("#content h1").waitFor();
    await expect(desk.locator("#content .skeleton")).toHaveCount(0);
    const count = await buttonsOf(desk).count();
    for (let index = 0; index < count; index++) {
      const button = buttonsOf(desk).nth(index);
      if (!(await button.isVisible())) continue;
      pressed.push(`${address}: ${await button.textContent()}`);
      await button.click();
      // A window that asks for a decision would make a change.
      await expect(desk.locator("dialog[open] button[type=submit]")).toHaveCount(0);
      await desk.keyboard.press("Escape");
      await expect(desk.locator("dialog[open]")).toHaveCount(0);
    }
  }
  expect(changes).toEqual([]);
  // It has pressed something, such as what saves a list as a file.
  expect(pressed).not.toEqual([]);

  await desk.goto("campaigns/new");
  await expect(desk.getByText("There is nothing at this address")).toBeVisible();
  await desk.getByRole("button", { name: "End" }).click();
  await expect(desk.getByRole("heading", { name: "People" })).toBeVisible();
});

for (const window of [
  { width: 390, height: 700 },
  { width: 1024, height: 768 },
]) {
  test.describe(`${window.width} px wide`, () => {
    test.use({ window });
    test("the banner of a person who is seen and that of the sample cover neither the sections nor the heading", async ({
      desk,
      stack,
    }) => {
      test.slow();
      await stack.addSample();
      const email = `seen-at-${window.width}@example.com`;
      await stack.ads(["people", "add", email, "--role", "ad-ops"]);
      await desk.goto(`people?find=${encodeURIComponent(email)}`);
      await desk.getByRole("button", { name: `Actions: ${email}` }).click();
      await desk.getByRole("button", { name: `See as ${email}` }).click();
      await desk.getByText("Nothing can be changed").waitFor();
      await desk.goto(new URL("/console/campaigns", desk.url()).href);
      await desk.getByRole("complementary", { name: "Sample traffic" }).waitFor();
      await desk.getByRole("table").waitFor();
      const boxOf = (selector: string) => desk.locator(selector).first().boundingBox();
      const covers = async (selector: string) => {
        const [banner, other] = [await boxOf(".impersonation"), await boxOf(selector)];
        if (banner === null || other === null) throw new Error(`${selector} is not there`);
        const isBeside = (from: "x" | "y", size: "width" | "height") =>
          banner[from] + banner[size] <= other[from] || other[from] + other[size] <= banner[from];
        return !isBeside("x", "width") && !isBeside("y", "height");
      };
      for (const selector of [".side-head", ".sample", "h1"]) expect(await covers(selector), selector).toBe(false);
      await desk.screenshot({ path: test.info().outputPath("top.png") });
      await desk.evaluate(() => scrollTo(0, document.body.scrollHeight));
      expect(await covers(".side-head")).toBe(false);
      if (window.width > 900) expect((await boxOf(".impersonation"))?.y).toBe(0);
      await desk.screenshot({ path: test.info().outputPath("bottom.png") });
      for (const box of await desk.locator(".table-box").all()) {
        const last = box.locator("thead th").last();
        await box.evaluate((element) => element.scrollTo(element.scrollWidth, 0));
        const [right, edge] = [await last.boundingBox(), await box.boundingBox()];
        if (window.width > 900)
          expect((right?.x ?? 0) + (right?.width ?? 0)).toBeLessThanOrEqual((edge?.x ?? 0) + (edge?.width ?? 0) + 1);
      }
      // The session is the next test's, too.
      await desk.getByRole("button", { name: "End" }).click();
      await expect(desk.getByRole("heading", { name: "People" })).toBeVisible();
    });
  });
}
