import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Answer, companion } from "../apps/ad-service/test/fixtures/sample-ad-server.ts";
import { root } from "../scripts/processes.ts";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { type AdServer, missing, sendsVideo, test } from "./sell-tag.ts";
import { expect, expectPaidOnce } from "./stack.ts";

const clip = await readFile(join(root, "e2e/fixtures/clip-2s.mp4"));
const playable = await sendsVideo("clip-2s.mp4");
/** Damages all bytes after the first frames. */
const damaged: Answer = (_request, response) => {
  response.writeHead(200, { "content-type": "video/mp4" }).end(Buffer.from(clip).fill(7, 5000));
};

const picture = await readFile(join(root, "e2e/fixtures/companion.png"));
const drawn: Answer = (_request, response) =>
  response.writeHead(200, { "content-type": "image/png", "cache-control": "no-store" }).end(picture);

/** Tracking events of both parties; `creativeView` is the older name of `start`. */
const events = ["creativeView", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "closeLinear"];
const trackers = ["wrapper", "inline"].flatMap((party) =>
  ["impression", ...events].map((event) => `/${party}/${event}`),
);

// Browsers request the icon of the page that a click opens.
const files = ["/tag", "/inline", "/ad.mp4", "/companion.png", "/shop/sale", "/shop/picture", "/favicon.ico"];
const callsOf = (ads: AdServer) => ads.calls.map(({ path }) => path).filter((path) => !files.includes(path));

test("a VAST ad is watched, opens its page and pays; each tracker of each party is called once, also for the click", async ({
  api,
  context,
  page,
  sell,
  stack,
  userId,
}) => {
  const ads = await sell(playable);
  await openWithNewCode({ api, page, stack, userId });
  await expect(page.locator("video")).toHaveJSProperty("src", `${ads.address}/ad.mp4`);
  expect(callsOf(ads), "an offer is not an impression").toEqual([]);
  await watchToTheEnd(page);
  const landing = context.waitForEvent("page");
  await page.getByRole("link", { name: "Learn more" }).click();
  await expect((await landing).getByText("The shop")).toBeVisible();
  const clicks = ["/inline/click", "/wrapper/click"];
  await expect
    .poll(() =>
      callsOf(ads)
        .filter((path) => path.endsWith("/click"))
        .toSorted(),
    )
    .toEqual(clicks);
  // The viewer returns and is paid.
  await page.bringToFront();
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expect.poll(() => callsOf(ads).toSorted()).toEqual([...trackers, ...clicks].toSorted());
  await expectPaidOnce(api, userId, "rewarded");
  // The service polls for due calls every second, so a duplicate call would have arrived by then.
  await page.waitForTimeout(1500);
  expect(callsOf(ads).toSorted()).toEqual([...trackers, ...clicks].toSorted());
  expect(ads.callsOf("/tag"), "once when it was added, and once for the ad").toHaveLength(2);
});

test("an advertiser's picture is the end card; a tap on it opens its page, and its trackers are called once", {
  tag: "@long",
}, async ({ api, context, page, sell, stack, userId }) => {
  const ads = await sell(playable, { companions: companion() }, drawn);
  await openWithNewCode({ api, page, stack, userId });
  await expect(page.locator("video")).toHaveJSProperty("src", `${ads.address}/ad.mp4`);
  expect(ads.callsOf("/companion.png"), "the video is loaded first").toEqual([]);
  await watchToTheEnd(page);
  const shown = page.locator(".end-picture");
  await expect(shown).toHaveJSProperty("src", `${ads.address}/companion.png`);
  await expect(shown).toHaveJSProperty("naturalWidth", 320);
  await expect(page.locator("video")).toHaveCount(0);
  const [request, ...more] = ads.calls.filter(({ path }) => path === "/companion.png");
  expect(request?.headers.referer).toBeUndefined();
  expect(more).toEqual([]);
  await expect(page.locator("a, button, [tabindex='0']"), "the picture is no tab stop").toHaveCount(3);

  const landing = context.waitForEvent("page");
  const { x, y, width, height } = (await shown.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.click(x + width / 2, y + height / 2);
  await expect(await landing).toHaveURL(/^http:[^?]*\/shop\/picture\?c=clk_/);
  await page.bringToFront();
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
  const ofCompanion = () => callsOf(ads).filter((path) => path.startsWith("/companion/"));
  await expect.poll(() => ofCompanion().toSorted()).toEqual(["/companion/click", "/companion/view"]);
  expect(callsOf(ads).filter((path) => path.endsWith("/click"))).toEqual(["/companion/click"]);
});

test("a picture that fails to load leaves the last frame, with the video's own call to action", {
  tag: "@long",
}, async ({ api, context, page, sell, stack, userId }) => {
  const ads = await sell(playable, { companions: companion() });
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  await expect.poll(() => ads.callsOf("/companion.png")).toHaveLength(1);
  await expect(page.locator("video")).toBeVisible();
  await expect(page.locator(".end-picture")).toHaveCount(0);
  const landing = context.waitForEvent("page");
  await page.getByRole("link").click();
  await expect(await landing).toHaveURL(/^http:[^?]*\/shop\/sale\?c=clk_/);
  await page.bringToFront();
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

const black = { duration: "00:00:02", code: 405, isBlack: true };
const faults: { name: string; media: Answer; duration: string; code: number; isBlack?: boolean }[] = [
  { name: "that is missing", media: missing, duration: "00:00:02", code: 401 },
  { name: "that is damaged", media: damaged, duration: "00:00:02", code: 405 },
  { name: "that is shorter than its ad declares", media: playable, duration: "00:00:10", code: 202 },
  // Browsers fire no error: the sound plays, and the picture is black.
  { name: "of HEVC, whose picture the browser does not decode,", media: await sendsVideo("hevc-2s.mp4"), ...black },
  { name: "of MPEG-4 Visual", media: await sendsVideo("mp4v-2s.mp4"), ...black },
  { name: "of sound alone", media: await sendsVideo("sound-2s.mp4"), ...black },
];
for (const { name, media, duration, code, isBlack = false } of faults) {
  test(`a video ${name} is reported to its ad server, and another ad is paid`, { tag: "@long" }, async ({
    api,
    page,
    sell,
    stack,
    userId,
  }) => {
    const ads = await sell(media, { duration });
    await openWithNewCode({ api, page, stack, userId });
    // The other ad takes its place by itself.
    await watchToTheEnd(page);
    expect(await page.locator("video").evaluate(({ src }: HTMLVideoElement) => src)).toContain(stack.urls.adService);
    await closeAndGet(page);
    await expectPaidOnce(api, userId, "rewarded");
    // Both are called at the same time.
    const expected = ["inline", "wrapper"].map((party) => `/${party}/error?code=${code}`);
    const errors = () => ads.calls.map(({ url }) => url).filter((url) => url.includes("/error"));
    await expect.poll(() => errors().toSorted()).toEqual(expected);
    const never = isBlack ? /impression|start|creativeView|quartile|complete|close/i : /complete|close/;
    expect(callsOf(ads).filter((path) => never.test(path))).toEqual([]);
    expect(ads.callsOf("/tag"), "once when it was added, and once for the ad").toHaveLength(2);
  });
}
