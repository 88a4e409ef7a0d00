import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../scripts/processes.ts";
import { adIn, type PageWithAds, result, show, test, watchIn } from "../in-app-game.ts";
import { initDataOf } from "../scripted-viewer.ts";
import { expect, expectPaidOnce } from "../stack.ts";

const HOUR_MS = 3_600_000;
const clockSocket = join(tmpdir(), `intermission-in-app-${process.pid}-${randomUUID()}`);

test.use({
  adServiceEnv: {
    NODE_OPTIONS: `--import=${pathToFileURL(join(root, "bench/movable-clock.ts")).href}`,
    BENCH_CLOCK_SOCKET: clockSocket,
  },
});

/** Stops the ad service's clock at this time. */
async function stopClockAt(time: number): Promise<void> {
  const connection = createConnection(clockSocket);
  connection.end(String(time));
  connection.resume();
  await once(connection, "close");
}

/** Lets the ad service's clock go with this machine's until the returned function is called. */
function letClockGo(): () => Promise<void> {
  let isOver = false;
  const going = (async () => {
    while (!isOver) {
      await stopClockAt(Date.now());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return () => {
    isOver = true;
    return going;
  };
}

test("a game that is open for four hours shows ads with the launch data of its start", async ({
  api,
  page,
  stack,
  userId,
  game,
}) => {
  const launchedAt = Date.now() - 4 * HOUR_MS;
  const initData = initDataOf(userId, stack.secrets, new Date(launchedAt));
  await page.clock.install({ time: launchedAt });
  await stopClockAt(launchedAt + 60_000);
  await game.open(page, userId, { initData });
  const ask = () => page.evaluate(() => (window as unknown as PageWithAds).ads.availability());
  expect(await ask()).toEqual({ available: true });

  await page.clock.fastForward(4 * HOUR_MS);
  await page.clock.resume();
  const stop = letClockGo();
  expect(await ask()).toEqual({ available: true });
  await show(page);
  await watchIn(adIn(page));
  await adIn(page).getByRole("button", { name: "Close", exact: true }).click();
  expect(await result(page)).toMatchObject({ outcome: "credited" });
  await expectPaidOnce(api, userId, "rewarded");

  // The same page loaded anew has only launch data, which is too old to begin with.
  await page.reload();
  expect(await ask()).toEqual({ available: false, reason: "INIT_DATA_EXPIRED" });
  await show(page);
  expect(await result(page)).toEqual({ outcome: "refused", reason: "INIT_DATA_EXPIRED" });
  await stop();
});
