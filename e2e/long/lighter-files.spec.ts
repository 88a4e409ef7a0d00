import { findFullBrowser } from "../../scripts/find-browser.ts";
import { closeAndGet, openWithNewCode } from "../open-miniapp.ts";
import { expect, expectPaidOnce, test } from "../stack.ts";

test("the browser sends client hints with the opening of the session although no script requests them", async ({
  api,
  launchOptions,
  playwright,
  stack,
  userId,
}) => {
  // The headless shell does not estimate the network, so that it sends none about it.
  const browser = await playwright.chromium.launch({ ...launchOptions, executablePath: await findFullBrowser() });
  try {
    const page = await browser.newPage();
    const opening = page.waitForRequest((request) => request.url().endsWith("/player/v1/sessions"));
    await openWithNewCode({ api, page, stack, userId });
    expect(await (await opening).allHeaders()).toMatchObject({
      ect: expect.stringMatching(/^[234]g$/),
      downlink: expect.stringMatching(/^[0-9.]+$/),
      "sec-ch-viewport-width": expect.stringMatching(/^[0-9]+$/),
      "sec-ch-dpr": expect.stringMatching(/^[0-9.]+$/),
    });
  } finally {
    await browser.close();
  }
});

test("a stalled video continues at the same second in a lighter file, and the whole view is paid once", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    // Runs in the page, because on a busy machine the video could end before a call from the test arrives.
    const onTime = ({ target }: Event) => {
      if (!(target instanceof HTMLVideoElement) || target.currentTime < 1 || sessionStorage.getItem("stopped")) return;
      sessionStorage.setItem("stopped", "once");
      target.pause();
    };
    addEventListener("timeupdate", onTime, true);
  });
  await openWithNewCode({ api, page, stack, userId });
  const counted = page.waitForResponse(
    async (response) => response.url().endsWith("/reports") && (await response.json()).accepted_ms >= 1000,
  );
  await page.getByRole("button", { name: "Watch" }).click();
  await counted;
  // A report may be counted before the video is stopped; without this wait the next page's video would be stopped instead.
  await page.getByRole("button", { name: "Tap to play" }).waitFor();

  // From here on the chosen file hangs, as on a stalled connection; a lighter one is offered.
  let chosen = "";
  let resumeAtMs = 0;
  await page.route("**/player/v1/sessions", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    resumeAtMs = body.resume_at_ms;
    chosen = body.ad.media_url;
    const lighter = { url: `${chosen}?lighter`, media_type: body.ad.media_type };
    await route.fulfill({ response, json: { ...body, ad: { ...body.ad, lighter_media: [lighter] } } });
  });
  // The page begins to load it before the session is open.
  await page.route(
    ({ pathname, search }) => /^\/media\/.*\.mp4$/.test(pathname) && search === "",
    () => {},
  );
  await page.reload();
  const reported: number[] = [];
  page.on("request", (request) => {
    if (!request.url().endsWith("/reports")) return;
    reported.push(...request.postDataJSON().reports.map((report: { from_ms: number }) => report.from_ms));
  });
  await page.getByRole("button", { name: /^(Watch|Continue watching)$/ }).click();
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 30_000 });
  await expect(page.locator("video")).toHaveJSProperty("src", `${chosen}?lighter`);
  expect(resumeAtMs).toBeGreaterThanOrEqual(1000);
  expect(Math.min(...reported)).toBeGreaterThanOrEqual(resumeAtMs);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});
