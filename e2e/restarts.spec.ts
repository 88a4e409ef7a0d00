import { closeAndGet, openWithNewCode } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

for (const name of ["ad-service", "api"] as const) {
  const tag = name === "ad-service" ? [] : "@long";
  test(`a restart of the ${name} during a view loses nothing`, { tag }, async ({ api, page, stack, userId }) => {
    await openWithNewCode({ api, page, stack, userId });
    await page.getByRole("button", { name: "Watch" }).click();
    await page.waitForFunction(() => (document.querySelector("video")?.currentTime ?? 0) > 0.5);
    const server = stack.servers.get(name);
    if (!server) throw new Error(`${name} does not run`);
    const exited = new Promise((resolve) => server.process.once("exit", resolve));
    server.process.kill("SIGKILL");
    await exited;
    await stack.start(name);
    await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 40_000 });
    await closeAndGet(page);
    await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible({ timeout: 40_000 });
    await expectPaidOnce(api, userId, "rewarded");
  });
}
