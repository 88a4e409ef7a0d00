import { analyze } from "../axe.ts";
import { test } from "../console.ts";
import { expect } from "../console-stack.ts";
import { latinWords } from "../latin-words.ts";

// A stack of its own: the flows of the console count what there is.
test.use({ adServiceEnv: { LOG_LEVEL: "warn" } });
test.describe.configure({ mode: "serial" });
test.setTimeout(300_000);

const screens = [
  "",
  "campaigns",
  "bots",
  "advertisers",
  "payouts",
  "reviews",
  "conversions",
  "timeline",
  "publisher",
  "reports",
  "people",
  "audit",
  "system",
];

for (const scheme of ["light", "dark"] as const) {
  test(`sample traffic is marked as such on every screen, and axe finds nothing, ${scheme}`, async ({
    desk,
    stack,
  }) => {
    await stack.addSample();
    expect(await stack.addSample()).toBe(false);
    await desk.emulateMedia({ colorScheme: scheme });
    for (const path of screens) {
      await desk.goto(new URL(`/console/${path}`, desk.url()).href);
      await expect(desk.getByRole("complementary", { name: "Sample traffic" })).toContainText("begin with “Sample:”");
      await desk.locator("h1").waitFor();
      await expect(desk.getByRole("status", { name: "Loading" })).toHaveCount(0);
      const { violations } = await analyze(desk);
      await desk.screenshot({ path: test.info().outputPath(`${path || "overview"}.png`), fullPage: true });
      expect(violations, path).toEqual([]);
    }
  });
}

test.describe("in the window of a phone, in Russian", () => {
  test.use({ window: { width: 390, height: 844 }, locale: "ru-RU" });
  test("no screen with sample traffic is wider than the window", async ({ desk, stack }) => {
    await stack.addSample();
    for (const path of screens) {
      await desk.goto(new URL(`/console/${path}`, desk.url()).href);
      await expect(desk.getByRole("complementary", { name: "Пример данных" })).toBeVisible();
      await expect(desk.getByRole("status", { name: "Загрузка" })).toHaveCount(0);
      await desk.screenshot({ path: test.info().outputPath(`${path || "overview"}.png`), fullPage: true });
      expect(await desk.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
    }
  });
});

test.describe("in Russian", () => {
  test.use({ locale: "ru-RU" });
  test("no screen speaks English, but for names, ids, settings and usual words", async ({ desk, stack }) => {
    await stack.addSample();
    const list = async (...command: string[]) =>
      JSON.parse(await stack.ads([...command, "list", "--json"])) as { name: string | null; sessionId?: string }[];
    const lists = await Promise.all([list("bots"), list("campaigns"), list("creatives"), list("advertisers")]);
    const names = lists.flat().flatMap(({ name }) => name ?? []);
    // Events are the advertisers' own words, `sample` is an id, `show` a method; browsers have names, too.
    const own = ["Sample:", "install", "purchase", "sample", "show", "Chrome", "Android"];
    const known = [...names.toSorted((one, other) => other.length - one.length), ...own];
    const [view] = await list("views");
    const more = [
      "campaigns/new",
      "campaigns/cmp_SampleCastleRush",
      "bots/99000000000000001",
      "creatives",
      "creatives/vast",
      "explain?bot=99000000000000001",
      `timeline?find=${view?.sessionId}`,
      "reviews?of=clicks",
      "reports?by=platform",
      "reports?by=country&also=premium",
      "reports?figure=funnel&by=bot",
      "account",
    ];
    for (const path of [...screens.filter((path) => path !== "system"), ...more]) {
      await desk.goto(new URL(`/console/${path}`, desk.url()).href);
      await desk.locator("h1").waitFor();
      await expect(desk.getByRole("status", { name: "Загрузка" })).toHaveCount(0);
      await expect(desk.locator(".skeleton")).toHaveCount(0);
      expect(await latinWords(desk, known), path).toEqual([]);
    }
  });
});

for (const width of [390, 1280]) {
  test.describe(`with text of twice the size, ${width} px wide`, () => {
    test.use({ window: { width, height: 844 }, locale: "ru-RU" });
    test("no screen with sample traffic is wider than the window", async ({ desk, stack }) => {
      await stack.addSample();
      const forms = ["campaigns/new", "campaigns/cmp_SampleCastleRush", "advertisers/adv_SampleNorthwind"];
      for (const path of [...screens, ...forms, "creatives", "explain?bot=99000000000000001&user=5"]) {
        await desk.goto(new URL(`/console/${path}`, desk.url()).href);
        await desk.locator("h1").waitFor();
        await expect(desk.getByRole("status", { name: "Загрузка" })).toHaveCount(0);
        // Whole, with what its parts ask for themselves.
        await desk.waitForLoadState("networkidle");
        await desk.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
        expect(await desk.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(width);
      }
    });
  });
}

test("the sample is removed on the screen: the demo's own bot and campaigns stay", async ({ desk, stack }) => {
  await stack.addSample();
  const namesOf = async (list: string) =>
    (JSON.parse(await stack.ads([list, "list", "--json"])) as { name: string }[]).map(({ name }) => name);
  expect((await namesOf("bots")).filter((name) => name.startsWith("Sample:"))).toHaveLength(3);
  await desk.getByRole("button", { name: "Remove the sample" }).click();
  await desk.getByRole("button", { name: "Remove it" }).click();
  await expect(desk.getByText("The sample traffic is removed.", { exact: true })).toBeVisible({ timeout: 60_000 });
  await expect(desk.getByRole("complementary", { name: "Sample traffic" })).toHaveCount(0);
  expect(await namesOf("bots")).toEqual(["Coin Garden"]);
  expect((await namesOf("campaigns")).sort()).toEqual(["House link", "House video"]);
  expect(JSON.parse(await stack.ads(["sample", "show", "--json"]))).toEqual({ sample: null });
});
