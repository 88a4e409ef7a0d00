import { noOldChromium } from "../../scripts/find-old-chromium.ts";
import { type OldBrowser, startOldBrowser } from "../old-browser.ts";
import { launchUrl } from "../open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "../stack.ts";

/** Chrome 80 is the oldest that the app supports; npm has one, so no test may pass with a newer one only. */
const NEWEST_VERSION = 90;

test.skip(noOldChromium !== undefined, noOldChromium);

let browser: OldBrowser;
test.beforeEach(async () => {
  browser = await startOldBrowser();
});
test.afterEach(() => browser.close());

const isState = (state: string) => `document.documentElement.dataset.state === "${state}"`;

test("in the oldest browser an ad is opened, watched, closed and paid once, and every screen can be used", async ({
  api,
  stack,
  userId,
}, testInfo) => {
  expect(browser.majorVersion).toBeLessThanOrEqual(NEWEST_VERSION);
  const { miniappUrl } = await newCode(api, userId);
  const look = async (state: string) => {
    await browser.screenshot(testInfo.outputPath(`${state}.png`));
    expect(await browser.evaluate(`(${layoutFaults})()`), state).toEqual([]);
  };
  await browser.open(launchUrl(miniappUrl, userId, stack.secrets));
  await browser.waitFor(isState("offer"));
  await look("offer");
  await browser.tap(".foot .button-primary");
  await browser.waitFor(`${isState("playing")} && document.querySelector("video").currentTime > 0.1`);
  await browser.tap(".pill .button");
  await browser.waitFor("document.querySelector('dialog[open]')");
  await look("question");
  await browser.tap(".dialog .button-primary");
  await browser.waitFor("!document.querySelector('dialog')");
  await look("playing");
  await browser.waitFor(isState("watched"));
  await look("watched");
  await browser.tap(".pill-button");
  await browser.waitFor(isState("status-credited"));
  await browser.waitFor("document.getAnimations ? document.getAnimations().length === 0 : true");
  await look("credited");
  await expectPaidOnce(api, userId, "rewarded");
  expect(browser.faults).toEqual([]);
});

/** Runs in the page: texts and buttons that are outside the window, over one another, or without a space between them. */
function layoutFaults(): string[] {
  const faults: string[] = [];
  const within = document.querySelector("dialog[open]") || document;
  const items = [
    ...within.querySelectorAll(
      "h1, h2, .secondary, dt, dd, .button, .step-name, .step-time, .pill-words, .pill-button, .brand",
    ),
  ];
  const shown = items
    .map((item) => ({ item, box: item.getBoundingClientRect() }))
    .filter(
      ({ item, box }) =>
        box.width > 1 && getComputedStyle(item).visibility !== "hidden" && !item.matches(".only-heard"),
    );
  const nameOf = (item: Element) => `${item.tagName} ${item.className} “${(item.textContent || "").slice(0, 20)}”`;
  for (const { item, box } of shown) {
    const isOutside = box.left < 0 || box.right > innerWidth || box.top < 0 || box.bottom > innerHeight;
    if (isOutside) faults.push(`${nameOf(item)} is outside the window`);
    for (const other of shown) {
      if (other.item === item || other.item.contains(item) || item.contains(other.item)) continue;
      const isNear = (gap: number) =>
        box.left < other.box.right + gap &&
        other.box.left < box.right + gap &&
        box.top < other.box.bottom &&
        other.box.top < box.bottom;
      if (isNear(3)) faults.push(`${nameOf(item)} touches ${nameOf(other.item)}`);
    }
  }
  if (shown.length < 2) faults.push("nothing is shown");
  return faults;
}
