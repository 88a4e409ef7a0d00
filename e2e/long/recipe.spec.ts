import { readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { freePort } from "../../scripts/processes.ts";
import { makeCleanClone } from "./clean-clone.ts";

/** npm downloads packages and Node, and the machine may be busy. */
test.setTimeout(20 * 60_000);

let machine: ReturnType<typeof makeCleanClone>;
test.beforeAll(() => {
  machine = makeCleanClone();
});
test.afterAll(() => machine.remove());

test("the README's recipe works literally in a clean clone", async ({ page }) => {
  const ports = await portsOfRecipe();
  const blocks = recipeOf(readFileSync(join(machine.clone, "README.md"), "utf8")).map((block) =>
    ports.inText(withBotToken(block)),
  );
  expect(blocks.length).toBeGreaterThan(5);
  const outputs: string[] = [];
  for (const block of blocks) {
    const server = /npm run start:(ad-service|api)/.exec(block)?.[1];
    if (server === undefined) outputs.push(await machine.run(block));
    else await machine.start(block, () => isHealthy(server === "api" ? ports.api : ports.adService));
  }

  const output = outputs.join("\n");
  expect(output).toContain('{"status":"ready"}');
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
function recipeOf(readme: string): string[] {
  const section = /^## Run it for a real bot$(.*?)^##/ms.exec(readme)?.[1] ?? "";
  return [...section.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent = "", block = ""]) =>
    block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** The recipe's ports; ports that are in use are replaced by free ones in all commands. */
async function portsOfRecipe() {
  const areFree = !(await isTaken(8701)) && !(await isTaken(8702));
  const [adService, api] = areFree ? [8701, 8702] : [await freePort(), await freePort()];
  const inText = (text: string) =>
    areFree
      ? text
      : text
          .replaceAll("127.0.0.1:8701", `127.0.0.1:${adService}`)
          .replaceAll("127.0.0.1:8702", `127.0.0.1:${api}`)
          .replace("npm run start:ad-service", `PORT=${adService} npm run start:ad-service`)
          .replace("npm run start:api", `PORT=${api} npm run start:api`);
  return { adService, api, inText };
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port }, () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function isHealthy(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
