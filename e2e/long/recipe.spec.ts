import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { expectFreePorts, makeCleanClone } from "./clean-clone.ts";

/** npm downloads packages and Node, and the machine may be busy. */
test.setTimeout(20 * 60_000);

/** Those of the recipe. */
const ports = { adService: 8701, api: 8702 };

let machine: ReturnType<typeof makeCleanClone>;
test.beforeAll(() => {
  machine = makeCleanClone();
});
test.afterAll(() => machine.remove());

test("the recipe of docs/deploy.md works literally in a clean clone", async ({ page }) => {
  await expectFreePorts(...Object.values(ports));
  const blocks = recipeOf(readFileSync(join(machine.clone, "docs/deploy.md"), "utf8")).map(withBotToken);
  expect(blocks.length).toBeGreaterThan(5);
  const outputs: string[] = [];
  for (const block of blocks) {
    const server = /npm run start:(ad-service|api)/.exec(block)?.[1];
    if (server === undefined) outputs.push(await machine.run(block));
    else await machine.start(block, () => isHealthy(server === "api" ? ports.api : ports.adService));
  }

  const output = outputs.join("\n");
  expect(output).toMatch(/\{"status":"ready","version":"[^"]+"\}/);
  expect(output).toMatch(/\{"code":"[0-9A-Za-z]{18}",.*"expires_in":\d+/);
  expect(output).toContain('<div id="root">');
  expect(JSON.parse(readFileSync(join(machine.clone, "bot.json"), "utf8"))).toMatchObject({
    botId: "123456789",
    token: expect.stringMatching(/^ad_/),
  });
  for (const port of [ports.adService, ports.api]) {
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  }
  // The built app runs and explains what to do outside Telegram.
  await page.goto(`http://127.0.0.1:${ports.adService}/app/123456789`);
  await expect(page.getByRole("heading", { name: "Open this from Telegram" })).toBeVisible();
});

/** What step 4 asks for: the placeholder is refused at start. */
function withBotToken(block: string): string {
  return block.replace("123456789:the-token-that-BotFather-shows", `123456789:${"A".repeat(35)}`);
}

/** The section's shell blocks in order, without the indentation of the list. */
function recipeOf(page: string): string[] {
  const section = /^## Steps$(.*?)^##/ms.exec(page)?.[1] ?? "";
  return [...section.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent = "", block = ""]) =>
    block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

function isHealthy(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
