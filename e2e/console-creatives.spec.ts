import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page, Route } from "@playwright/test";
import { inline, openSampleAdServer, wrapper } from "../apps/ad-service/test/fixtures/sample-ad-server.ts";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { root } from "../scripts/processes.ts";
import { analyze } from "./axe.ts";
import { expect, hold, test, windows } from "./console.ts";

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
      await click(desk.getByRole("link", { name: "3 creatives wait for approval." }));
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
      await expect(desk.getByText("Must not be empty.")).toBeVisible();
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

test("a letter decides nothing from the key that opens something until it is closed, and none is lost", {
  tag: "@long",
}, async ({ desk, stack, browser }) => {
  const [first, second] = ["unseen-1.mp4", "unseen-2.mp4"];
  await submitVideos(browser, stack, [first, second]);
  const release = await hold(desk, "GET", "**/finder-*.js");
  await desk.goto(new URL("/console/approval", desk.url()).href);
  await desk.getByRole("heading", { name: first }).waitFor();
  const dialog = desk.getByRole("dialog");
  // The contents of the finder are under way until it is released.
  for (const key of ["ControlOrMeta+k", "/"]) {
    await desk.keyboard.press(key);
    await desk.keyboard.type("advertisers");
    await desk.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
  }
  await desk.keyboard.press("ControlOrMeta+k");
  await desk.keyboard.type("adver");
  release();
  await dialog.getByRole("combobox").waitFor();
  await desk.keyboard.type("tisers");
  await expect(dialog.getByRole("combobox")).toHaveValue("advertisers");
  await desk.keyboard.press("Escape");
  // Without the focus, a window is open all the same; so is a menu, which leaves it where it was.
  await desk.keyboard.press("?");
  await dialog.waitFor();
  await desk.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await desk.keyboard.press("a");
  await desk.keyboard.press("r");
  await expect(desk.getByLabel("Reason")).toHaveCount(0);
  await desk.keyboard.press("Escape");
  await desk.setViewportSize({ width: 390, height: 844 });
  await desk.getByRole("button", { name: "Menu" }).click();
  await desk.keyboard.press("a");
  await desk.keyboard.press("r");
  await desk.keyboard.press("Escape");
  // The next screen is on its way.
  const arrive = await hold(desk, "GET", "**/audit-screen-*.js");
  await desk.keyboard.press("g");
  await desk.keyboard.press("u");
  await desk.keyboard.press("a");
  await desk.keyboard.press("r");
  await expect(desk.getByLabel("Reason")).toHaveCount(0);
  arrive();
  await desk.getByRole("heading", { name: "Audit trail" }).waitFor();
  expect(await statesOf(stack)).toMatchObject({ [first]: "waiting", [second]: "waiting" });

  await desk.goBack();
  for (const name of [first, second]) {
    await desk.getByRole("heading", { name }).waitFor();
    await desk.keyboard.press("a");
    await expect.poll(() => statesOf(stack)).toMatchObject({ [name]: "approved" });
  }
});

for (const { name, size } of windows) {
  for (const colorScheme of [name === "desk" ? ("dark" as const) : ("light" as const)]) {
    test.describe(`in the window of a ${name}, ${colorScheme}`, { tag: "@long" }, () => {
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
        for (const path of ["creatives", `creatives/${creativeId}`, "approval", "creatives/vast"]) {
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

test("a creative is played in the viewer's player to its end card, and nothing is counted", { tag: "@long" }, async ({
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

test("the finder opens a creative by a part of its name, or by its id", { tag: "@long" }, async ({
  desk,
  stack,
  browser,
}) => {
  await submitVideos(browser, stack, ["found in the finder.mp4"]);
  const creatives: { name: string; creativeId: string }[] = JSON.parse(
    await stack.ads(["creatives", "list", "--json"]),
  );
  const creativeId = creatives.find(({ name }) => name === "found in the finder.mp4")?.creativeId ?? "";
  for (const typed of ["in the finder", creativeId]) {
    await desk.keyboard.press("Control+k");
    await desk.getByPlaceholder("A bot, a campaign, a creative").fill(typed);
    await expect(desk.getByRole("option", { name: `found in the finder.mp4 ${creativeId}` })).toBeVisible();
    await desk.keyboard.press("Enter");
    await expect(desk).toHaveURL(new RegExp(`/creatives/${creativeId}$`));
    await desk.getByRole("link", { name: "Bots", exact: true }).filter({ visible: true }).click();
  }
});

test("the VAST tester shows the chain of wrappers and the media, or what failed and what to do", {
  tag: "@long",
}, async ({ desk }) => {
  const server = await openSampleAdServer({
    "/tag": wrapper("{self}/inline"),
    "/inline": inline(),
    "/broken": wrapper("{self}/page"),
    "/page": (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html><p></html>"),
  });
  await desk.getByRole("link", { name: "Creatives", exact: true }).filter({ visible: true }).click();
  await desk.getByRole("link", { name: "VAST tester" }).click();
  const tryTag = async (path: string) => {
    await desk.getByLabel("Address of the tag").fill(`${server.address}${path}`);
    await desk.getByRole("button", { name: "Try it" }).click();
  };
  await tryTag("/tag");
  const steps = desk.getByRole("region", { name: "Requests" }).getByRole("listitem");
  await expect(steps).toHaveCount(2);
  await expect(steps.first()).toContainText("wrapper");
  await expect(steps.last()).toContainText("ad with media");
  await expect(desk.getByRole("region", { name: "What a viewer would get" })).toContainText("/ad.mp4");
  await desk.screenshot({ path: test.info().outputPath("vast.png"), fullPage: true });
  expect((await analyze(desk)).violations).toEqual([]);
  await tryTag("/broken");
  await expect(desk.getByText(/VAST error 10\d/)).toBeVisible();
  await expect(steps.last()).toContainText("error 10");
  await expect(desk.getByText("no VAST").or(desk.getByText("no well-formed XML"))).toBeVisible();
  await desk.screenshot({ path: test.info().outputPath("vast-broken.png"), fullPage: true });
  expect(server.callsOf("/ad.mp4")).toEqual([]);
  server.close();
});

test.describe("as an advertiser", () => {
  test.use({ signedInAs: PERSON });

  for (const { name, size, tag } of windows) {
    test.describe(`in the window of a ${name}`, { tag }, () => {
      test.use({ window: size });

      test("a video is uploaded, seen in the player and submitted in three clicks; an interrupted upload goes on", async ({
        desk,
        stack,
      }) => {
        const video = (file: string) => ({ name: file, mimeType: "video/mp4", buffer: newClip() });
        const [chosen, dropped] = [`chosen-${name}.mp4`, `dropped-${name}.mp4`];
        const { click, done } = counter();
        await click(desk.getByRole("link", { name: "Creatives", exact: true }).filter({ visible: true }));
        const choosing = desk.waitForEvent("filechooser");
        await click(desk.getByRole("button", { name: "Upload a video" }));
        await (await choosing).setFiles(video(chosen));
        await desk.getByRole("heading", { name: chosen }).waitFor();
        await player(desk).getByRole("button", { name: "Watch" }).waitFor();
        expect(await statesOf(stack)).toMatchObject({ [chosen]: "draft" });
        expect((await analyze(desk)).violations).toEqual([]);
        await desk.screenshot({ path: test.info().outputPath("draft.png"), fullPage: true });
        await click(desk.getByRole("button", { name: "Submit for approval" }));
        await desk.getByText("Submitted.").waitFor();
        expect(done.clicks).toBeLessThanOrEqual(3);
        expect(await statesOf(stack)).toMatchObject({ [chosen]: "waiting" });

        // Its lost connection is an error in this window's console, which the other's would report.
        const page = await desk.context().newPage();
        let interrupted = 0;
        await page.route("**/operator/v1/uploads/**", async (route) => {
          if (route.request().method() !== "PATCH" || interrupted > 0) return route.continue();
          interrupted += 1;
          return route.abort();
        });
        await page.goto(new URL("/console/creatives", desk.url()).href);
        const bytes = [...newClip()];
        const files = await page.evaluateHandle(
          ({ bytes, dropped }) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(bytes)], dropped, { type: "video/mp4" }));
            return transfer;
          },
          { bytes, dropped },
        );
        await page.getByRole("region", { name: "Upload a video" }).dispatchEvent("drop", { dataTransfer: files });
        await page.getByRole("heading", { name: dropped }).waitFor();
        expect(interrupted).toBe(1);
        expect(await statesOf(stack)).toMatchObject({ [dropped]: "draft" });
        const creatives = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
        const { creativeId } = creatives.find((one: { name: string }) => one.name === chosen);
        await stack.ads(["creatives", "approve", creativeId]);
      });
    });
  }
});

test("an upload waits for a lost connection, and says what else has ended it; unfinished ones can be removed", {
  tag: "@long",
}, async ({ desk }) => {
  // Its lost connection is an error in this window's console, which the other's would report.
  const page = await desk.context().newPage();
  let onPart = async (route: Route): Promise<void> => route.continue();
  const isPart = (route: Route) => route.request().method() === "PATCH";
  await page.route("**/operator/v1/uploads**", (route) => (isPart(route) ? onPart(route) : route.continue()));
  await page.goto(new URL("/console/creatives", desk.url()).href);
  // What the other window reads would fail, too.
  await desk.goto("about:blank");
  const file = test.info().outputPath("flaky.mp4");
  const upload = async (name = "flaky.mp4") => {
    const path = test.info().outputPath(name);
    await writeFile(path, newClip());
    const choosing = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload a video" }).click();
    await (await choosing).setFiles(path);
  };
  // The file changes on the disk.
  onPart = async (route) => {
    await writeFile(file, "another film, of another length");
    await route.abort();
  };
  await upload();
  await expect(page.getByRole("alert")).toContainText("the file has changed since you chose it");
  for (const [status, sentence] of [
    [413, "refuses even parts of 512 KiB (413)"],
    [405, "refuses the requests of uploads (405)"],
    [403, "such as a proxy or a firewall"],
  ] as const) {
    onPart = (route) => route.fulfill({ status, contentType: "text/html", body: "<h1>nginx</h1>" });
    await upload();
    await expect(page.getByRole("alert")).toContainText(sentence);
  }
  const unfinished = page.getByRole("region", { name: "Unfinished uploads" });
  await expect(unfinished, "what cannot go on is removed at once").toHaveCount(0);
  // The page is left while the connection is lost: what has arrived stays, and can be removed.
  onPart = async (route) => {
    await page.context().setOffline(true);
    await route.abort("internetdisconnected");
  };
  await upload("left.mp4");
  await expect(page.getByText("No connection. It goes on once there is one.")).toBeVisible();
  await page.context().setOffline(false);
  onPart = async (route) => route.abort();
  await page.reload();
  await unfinished.getByRole("button", { name: "Remove the unfinished upload of left.mp4" }).click();
  await expect(page.getByText("The unfinished upload of left.mp4 is removed.")).toBeVisible();
  await expect(unfinished).toHaveCount(0);
  // And where it waits, it goes on by itself.
  let isFirst = true;
  onPart = async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    await page.context().setOffline(true);
    return route.abort("internetdisconnected");
  };
  await upload("patient.mp4");
  await expect(page.getByText("No connection. It goes on once there is one.")).toBeVisible();
  await page.context().setOffline(false);
  await page.getByRole("heading", { name: "patient.mp4" }).waitFor();
  await page.close();
});

test("two videos that are dropped at once are refused in a sentence, and a file beside the place does not replace the page", {
  tag: "@long",
}, async ({ desk }) => {
  await desk.goto("creatives");
  const place = desk.getByRole("region", { name: "Upload a video" });
  await place.waitFor();
  const drop = (target: typeof place, names: string[]) =>
    target.evaluate((element, files) => {
      const dataTransfer = new DataTransfer();
      for (const name of files) dataTransfer.items.add(new File(["x"], name, { type: "video/mp4" }));
      return !element.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }, names);
  expect(await drop(place, ["one.mp4", "two.mp4"])).toBe(true);
  await expect(desk.getByText("Nothing is added: drop one video at a time.")).toBeVisible();
  // Cancelled, so that the browser does not open it.
  expect(await drop(desk.locator("body"), ["one.mp4"])).toBe(true);
});

test("the line of a creative that is typed stays while its name is saved", { tag: "@long" }, async ({
  desk,
  stack,
}) => {
  const [creative] = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
  await desk.goto(`creatives/${creative.creativeId}`);
  await desk.getByLabel("Name", { exact: true }).fill("Spring film");
  await desk.getByLabel("Line beside the ad", { exact: true }).fill("Ad. Tulip Films Ltd.");
  await desk.getByRole("button", { name: "Save: Name" }).click();
  await expect(desk.getByRole("heading", { level: 1 })).toHaveText("Spring film");
  await expect(desk.getByLabel("Line beside the ad", { exact: true })).toHaveValue("Ad. Tulip Films Ltd.");
  await stack.ads(["creatives", "rename", creative.creativeId, creative.name]);
});
