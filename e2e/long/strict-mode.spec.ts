import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, runCommand } from "../../scripts/processes.ts";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "../open-miniapp.ts";
import { expect, expectPaidOnce, test as onStack } from "../stack.ts";

/** The app with React's development build, whose strict mode runs, undoes and runs again every effect of a component. */
const test = onStack.extend<object, { developmentBuild: string }>({
  developmentBuild: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "intermission-e2e-build-"));
      const app = join(root, "apps/miniapp");
      const asDevelopment = ["--mode", "development", "--outDir", folder, "--emptyOutDir"];
      await runCommand(join(app, "node_modules/.bin/vite"), ["build", app, ...asDevelopment], {
        env: { NODE_ENV: "development" },
      });
      await use(folder);
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 120_000 },
  ],
  adServiceEnv: [async ({ developmentBuild }, use) => use({ MINIAPP_DIR: developmentBuild }), { scope: "worker" }],
});

test("although each effect runs twice, one player opens one session and plays one video once", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const posted: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "POST") posted.push(pathname);
  });
  await page.addInitScript(() => {
    const create = document.createElement.bind(document);
    window.videos = 0;
    document.createElement = (name: string, options?: ElementCreationOptions) => {
      if (name === "video") window.videos++;
      return create(name, options);
    };
  });
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  // Before the credit's screen loads the video of the next ad.
  expect(await page.evaluate(() => window.videos)).toBe(1);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
  expect(posted.filter((path) => path.endsWith("/player/v1/sessions"))).toHaveLength(1);
});

declare global {
  interface Window {
    videos: number;
  }
}
