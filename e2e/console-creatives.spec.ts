import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { root } from "../scripts/processes.ts";
import { analyze } from "./axe.ts";
import { expect, test, windows } from "./console.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default", timeout: 180_000 });

const ADVERTISER = "Tulip Films";
const PERSON = "films@example.com";
const clip = await readFile(join(root, "e2e/fixtures/clip-2s.mp4"));
let clips = 0;

/** The same video in other bytes: a box that players skip follows it. */
function newClip(): Buffer {
  clips += 1;
  const box = Buffer.alloc(16, clips);
  box.writeUInt32BE(box.byteLength);
  box.write("free", 4);
  return Buffer.concat([clip, box]);
}

test.beforeAll(async ({ stack }) => {
  await stack.ads(["advertisers", "add", ADVERTISER]);
  await stack.ads(["people", "add", PERSON, "--role", "advertiser", "--advertiser", ADVERTISER]);
});

const linkOfAdvertiser = async ({ ads }: DemoStack): Promise<string> =>
  JSON.parse(await ads(["people", "sign-in-link", PERSON, "--json"])).link;

/** Uploads and submits videos of these names as the advertiser's person. */
async function submitVideos(browser: Browser, stack: DemoStack, names: readonly string[]): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(await linkOfAdvertiser(stack));
  await page.locator("#content h1").waitFor();
  const { origin } = new URL(page.url());
  for (const name of names) {
    const query = new URLSearchParams({ name, advertiser: ADVERTISER });
    const headers = { origin, "content-type": "application/octet-stream" };
    const added = await context.request.post(`${origin}/operator/v1/creatives?${query}`, { headers, data: newClip() });
    const { creativeId } = await added.json();
    const submitted = await context.request.post(`${origin}/operator/v1/creatives/${creativeId}/submit`, {
      headers: { origin },
    });
    expect(submitted.status(), await submitted.text()).toBe(200);
  }
  await context.close();
}

/** The states of the advertiser's creatives, by their names. */
async function statesOf(stack: DemoStack): Promise<Record<string, string>> {
  const creatives = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
  return Object.fromEntries(creatives.map(({ name, review }: { name: string; review: string }) => [name, review]));
}

/** What a reader does, counted. */
function counter() {
  const done = { clicks: 0 };
  return {
    done,
    async click(target: Locator) {
      done.clicks += 1;
      await target.click();
    },
  };
}

const player = (page: Page) => page.frameLocator("iframe");

for (const { name, size, tag } of windows) {
  test.describe(`in the window of a ${name}`, { tag }, () => {
    test.use({ window: size });

    test("the next creative is approved or refused in three clicks, or by keyboard alone, and Undo takes it back", async ({
      desk,
      stack,
      browser,
    }) => {
      const [first, second, third] = [`first-${name}.mp4`, `second-${name}.mp4`, `third-${name}.mp4`];
      await submitVideos(browser, stack, [first, second, third]);
      await desk.reload();
      const { click, done } = counter();
      if (name === "phone") await click(desk.getByRole("button", { name: "Menu" }));
      await click(desk.getByRole("link", { name: "Approval", exact: true }).filter({ visible: true }));
      await desk.getByRole("heading", { name: first }).waitFor();
      await expect(desk.getByText("3 creatives wait")).toBeVisible();
      await expect(player(desk).getByRole("button", { name: "Watch" })).toBeVisible();
      expect((await analyze(desk)).violations).toEqual([]);
      await click(desk.getByRole("button", { name: "Approve" }));
      expect(done.clicks).toBeLessThanOrEqual(3);
      await desk.getByRole("heading", { name: second }).waitFor();
      expect(await statesOf(stack)).toMatchObject({ [first]: "approved", [second]: "waiting" });
      await desk.getByRole("button", { name: "Undo" }).click();
      await expect.poll(() => statesOf(stack)).toMatchObject({ [first]: "waiting" });

      await desk.goto(new URL("/console", desk.url()).href);
      await desk.getByRole("heading", { name: "Overview" }).waitFor();
      await desk.keyboard.press("g");
      await desk.keyboard.press("q");
      await desk.getByRole("heading", { name: first }).waitFor();
      await player(desk).getByRole("button", { name: "Watch" }).waitFor();
      await desk.keyboard.press("a");
      await desk.getByRole("heading", { name: second }).waitFor();
      await desk.keyboard.press("r");
      await desk.getByLabel("Reason").waitFor();
      await desk.keyboard.press("Enter");
      await expect(desk.getByText("Write what must change.")).toBeVisible();
      await desk.keyboard.type("The text is too small to read");
      await desk.keyboard.press("Enter");
      await desk.getByRole("heading", { name: third }).waitFor();
      // In the player, keys decide all the same.
      await player(desk).getByRole("button", { name: "Watch" }).click();
      expect(await statesOf(stack)).toMatchObject({ [first]: "approved", [second]: "refused", [third]: "waiting" });
      await desk.keyboard.press("a");
      await desk.getByText("Nothing waits for approval.").waitFor();
    });
  });
}

for (const { name, size, tag } of windows) {
  for (const colorScheme of ["light", "dark"] as const) {
    test.describe(`in the window of a ${name}, ${colorScheme}`, { tag: colorScheme === "dark" ? "@long" : tag }, () => {
      test.use({ window: size });

      test("no screen of creatives is wider than the window, and axe finds nothing in it", async ({
        desk,
        stack,
        browser,
      }) => {
        const shown = `shown-${name}-${colorScheme}.mp4`;
        await submitVideos(browser, stack, [shown]);
        const creatives = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
        const { creativeId } = creatives.find((one: { name: string }) => one.name === shown);
        await desk.emulateMedia({ colorScheme });
        for (const path of ["creatives", `creatives/${creativeId}`, "creatives/queue", "creatives/vast"]) {
          await desk.goto(new URL(`/console/${path}`, desk.url()).href);
          await desk.getByRole("main").locator("table, dl, form").first().waitFor();
          if (!/creatives$|vast$/.test(path)) await player(desk).getByRole("button", { name: "Watch" }).waitFor();
          expect((await analyze(desk)).violations, path).toEqual([]);
          const file = `${path.replaceAll("/", "-").replace(creativeId, "one")}.png`;
          await desk.screenshot({ path: test.info().outputPath(file), fullPage: true });
          expect(await desk.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(size.width);
        }
        await stack.ads(["creatives", "approve", creativeId]);
      });
    });
  }
}

test("a creative is played in the viewer's player to its end card, and nothing is counted", async ({
  desk,
  stack,
  browser,
}) => {
  await submitVideos(browser, stack, ["watched.mp4"]);
  const requested: string[] = [];
  desk.on("request", (request) => requested.push(new URL(request.url()).pathname));
  await desk.getByRole("link", { name: "Creatives", exact: true }).filter({ visible: true }).click();
  await desk.getByRole("searchbox").fill("watched");
  await desk.getByRole("link", { name: "watched.mp4" }).click();
  await player(desk).getByRole("button", { name: "Watch" }).click();
  await player(desk).getByRole("button", { name: "Reward earned" }).click();
  await expect(player(desk).getByRole("button", { name: "Watch" })).toBeVisible();
  expect(requested.filter((path) => path.startsWith("/player/"))).toEqual([]);
  await desk.keyboard.press("Escape");
});
