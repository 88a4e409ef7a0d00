import { findEngine } from "../../scripts/find-programs.ts";
import { launchUrl } from "../open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "../stack.ts";
import { type Engine, startFirefox, startWebKit } from "./other-engines.ts";

const WAIT_MS = 90_000;
const stateOf = (engine: Engine) => engine.evaluate("document.documentElement.dataset.state ?? null");

/**
 * Clicks the first enabled button whose name matches, where it stands, until the app has reached one of these states: on a
 * busy machine a button may move, or not listen yet, between the look and the click.
 */
async function clickUntil(engine: Engine, name: RegExp, reached: RegExp): Promise<void> {
  const find = `(() => {
    const button = [...document.querySelectorAll("button:not(:disabled)")].find(
      (one) => ${name}.test(one.getAttribute("aria-label") ?? one.textContent ?? ""));
    if (!button) return null;
    const { left, top, width, height } = button.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    return button.contains(document.elementFromPoint(x, y)) ? { x, y } : null;
  })()`;
  await expect(async () => {
    const place = (await engine.evaluate(find)) as { x: number; y: number } | null;
    if (place) await engine.clickAt(place.x, place.y);
    expect(await stateOf(engine), `button ${name}`).toMatch(reached);
  }).toPass({ timeout: WAIT_MS, intervals: [500] });
}

/** The engine of Telegram Desktop on Linux, and the one of those who open the app in a browser. */
const engines = { WebKitGTK: startWebKit, Firefox: startFirefox };

for (const name of ["WebKitGTK", "Firefox"] as const) {
  const found = findEngine(name);
  test(`an ad is watched to its reward in ${name}`, async ({ api, stack, userId }) => {
    test.skip("missing" in found, "missing" in found ? found.missing : "");
    test.setTimeout(5 * WAIT_MS);
    const start = engines[name];
    const engine = await start();
    try {
      const { miniappUrl } = await newCode(api, userId);
      await engine.open(launchUrl(miniappUrl, userId, stack.secrets));
      await clickUntil(engine, /^Watch$/, /^(playing|confirming|watched)$/);
      // A video that freezes is recovered by the player, without a tap.
      await expect.poll(() => stateOf(engine), { timeout: WAIT_MS }).toBe("watched");
      await clickUntil(engine, /Reward earned|Earned: /, /^status-/);
      await expect.poll(() => engine.evaluate("document.body.innerText"), { timeout: WAIT_MS }).toContain("credited");
      await expectPaidOnce(api, userId, "rewarded");
    } finally {
      await engine.close();
    }
  });
}
