import { closeAndGet, openWithNewCode } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

/**
 * Takes from this browser what iOS 14 and Chrome 80 lack. `e2e/long/old-browsers.spec.ts` runs the flow in a real Chrome 80;
 * there is no Safari of that time for Linux.
 */
function takeNewerFunctions(): void {
  const take = (from: object, ...names: string[]) => {
    for (const name of names) Reflect.deleteProperty(from, name);
  };
  take(Object, "hasOwn", "groupBy");
  take(Array.prototype, "at", "findLast", "findLastIndex", "toSorted", "toReversed", "toSpliced", "with");
  take(String.prototype, "at", "replaceAll");
  take(Promise, "any", "try", "withResolvers");
  take(AbortSignal, "any", "timeout");
  take(Intl, "ListFormat", "DurationFormat");
  take(Element.prototype, "replaceChildren", "checkVisibility");
  take(HTMLDialogElement.prototype, "showModal", "show", "close");
  take(Navigator.prototype, "userActivation");
  take(window, "structuredClone", "requestIdleCallback", "WeakRef", "FinalizationRegistry");
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const { capture, once, passive } = typeof options === "object" ? options : { capture: options };
    listen.call(this, type, listener as EventListener, { capture, once, passive } as AddEventListenerOptions);
  };
}

test("without what iOS 14 lacks, keyboard and taps stay in the dialogs, and the ad is paid once", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await page.addInitScript(takeNewerFunctions);
  await page.addInitScript(() => {
    // Without a pause the two-second video would end before the dialog opens.
    const pauseOnce = ({ target }: Event) => target instanceof HTMLVideoElement && target.pause();
    addEventListener("playing", pauseOnce, { capture: true, once: true });
  });
  await openWithNewCode({ api, page, stack, userId });
  const label = page.getByRole("button", { name: "Ad", exact: true }).filter({ visible: true });
  const watch = page.getByRole("button", { name: "Watch" });
  const { x, y } = (await watch.boundingBox()) ?? { x: 0, y: 0 };
  await label.click();
  const sheet = page.getByRole("dialog");
  await expect(sheet).toBeInViewport({ ratio: 1 });
  await expect(sheet.getByRole("heading", { name: "About this ad" })).toBeFocused();
  for (const [key, name] of [
    ["Shift+Tab", "Close"],
    ["Shift+Tab", "Report this ad"],
    ["Shift+Tab", "Close"],
    ["Tab", "Report this ad"],
  ] as const) {
    await page.keyboard.press(key);
    await expect(sheet.getByRole("button", { name })).toBeFocused();
  }
  // What is below the sheet takes neither a tap nor the focus.
  await page.mouse.click(x + 2, y + 2);
  await watch.evaluate((button) => button.focus());
  await expect(sheet.getByRole("button", { name: "Report this ad" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(sheet.getByRole("heading", { name: "What is wrong" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(label).toBeFocused();
  await watch.click();
  await page.getByRole("button", { name: "Tap to play" }).waitFor();
  const close = page.getByRole("button", { name: "Close", exact: true });
  await close.click();
  const dialog = page.getByRole("dialog", { name: "Close and lose the reward?" });
  await expect(dialog).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("button", { name: "Resume" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Close and lose the reward" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Resume" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
  expect(faults).toEqual([]);
});

test("a listener with a signal is removed where browsers ignore the signal", async ({ api, page, stack, userId }) => {
  await page.addInitScript(takeNewerFunctions);
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).waitFor();
  const heard = await page.evaluate(() => {
    const [target, stop, stopped] = [new EventTarget(), new AbortController(), new AbortController()];
    const heard: string[] = [];
    stopped.abort();
    target.addEventListener("a", () => heard.push("while it listens"), { signal: stop.signal });
    target.addEventListener("a", () => heard.push("never"), { signal: stopped.signal });
    target.dispatchEvent(new Event("a"));
    stop.abort();
    target.dispatchEvent(new Event("a"));
    return heard;
  });
  expect(heard).toEqual(["while it listens"]);
});
