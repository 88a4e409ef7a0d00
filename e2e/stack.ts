import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect } from "@playwright/test";
import { type DemoStack, startDemoStack } from "../scripts/demo-stack.ts";
import { freePort, root } from "../scripts/processes.ts";
import { companionApi } from "./kill/companion-api.ts";

type Api = ReturnType<typeof companionApi>;

/** A whole stack per worker, on free ports and in a temporary folder: built mini-app, real servers, a real 2 s video. */
export const test = base.extend<
  { userId: string; api: Api },
  { stack: DemoStack; adVideo: string; adServiceEnv: NodeJS.ProcessEnv }
>({
  adVideo: [join(root, "e2e/fixtures/clip-2s.mp4"), { option: true, scope: "worker" }],
  adServiceEnv: [{}, { option: true, scope: "worker" }],
  stack: [
    async ({ adVideo, adServiceEnv }, use) => {
      const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-e2e-"));
      const stack = await startDemoStack({
        dataDirectory,
        ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
        video: adVideo,
        hasChat: true,
        cooldownSeconds: 0,
        dailyCap: 100,
        env: { "ad-service": { TRUST_PROXY: "127.0.0.1", VAST_ALLOWED_NETWORKS: "127.0.0.1", ...adServiceEnv } },
      });
      await use(stack);
      await stack.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 180_000 },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
  userId: async ({}, use, testInfo) => {
    await use(String(1_000_000 + testInfo.workerIndex * 100_000 + Math.floor(Math.random() * 99_999)));
  },
  api: async ({ stack }, use) => {
    await use(companionApi(stack.urls.api, stack.secrets.backendApiKey));
  },
});

export { expect };

/** The paid entries of a user, once there are as many as expected; waits a moment more so that a double payment would show. */
export async function expectPaidOnce(api: Api, userId: string, event: "rewarded" | "direct_link"): Promise<void> {
  await expect.poll(async () => (await api.listRewards(userId)).length, { timeout: 20_000 }).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const paid = (await api.listRewards(userId)).filter((entry) => entry.amount > 0);
  expect(paid.map((entry) => entry.event)).toEqual([event]);
}

/** Nothing is paid, and nothing comes later either. */
export async function expectNothingPaid(api: Api, userId: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(await api.listRewards(userId)).toEqual([]);
}

export async function newCode(
  api: Api,
  userId: string,
  reference?: string,
): Promise<{ code: string; directLink: string; miniappUrl: string }> {
  const created = await api.createCode(userId, reference);
  if (created.outcome !== "created") throw new Error(`no code: ${created.reason}`);
  return created;
}
