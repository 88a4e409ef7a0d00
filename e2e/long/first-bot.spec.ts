import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { freePort } from "../../scripts/processes.ts";
import { snippetsOf } from "../../scripts/snippets.ts";
import { expectFreePorts, isOpen, makeCleanClone } from "./clean-clone.ts";

/** Downloads are slow on some machines, and other tests run beside it: each step's time is printed, none is a limit. */
test.setTimeout(20 * 60_000);

let machine: ReturnType<typeof makeCleanClone>;
let started: number;
test.beforeAll(() => {
  started = performance.now();
  machine = makeCleanClone();
});
test.afterAll(() => machine.remove());

test("docs/first-bot.md, as GitHub shows it, leads from a clone to a paid reward in the simulated phone, also where the console cannot be built", async ({
  page,
}) => {
  const blocks = snippetsOf("docs/first-bot.md").map(({ language, text }) => [language, text] as const);
  expect(blocks.map(([language]) => language)).toEqual(["sh", "sh", "ts", "sh", "sh"]);
  const [start, make, program, run, doctor] = blocks.map(([, text]) => text);
  const webhookPort = 3000;
  await expectFreePorts(webhookPort);
  const ports = { chat: await freePort(), adService: await freePort(), api: await freePort() };
  const environment = `DEMO_BOT_PORT=${ports.chat} AD_SERVICE_PORT=${ports.adService} API_PORT=${ports.api}`;
  const bot = join(machine.folder, "my-bot");

  const seconds = () => (performance.now() - started) / 1000;
  const times: string[] = [];
  const measure = (what: string) => times.push(`${what} ${seconds().toFixed(1)} s`);
  measure("cloned after");

  // Nothing of this page needs the console.
  appendFileSync(join(machine.clone, "apps/console/src/main.tsx"), "const broken = ;\n");
  const output = await machine.start(`${environment} ${start}`, (output) => output.includes("Intermission runs"));
  measure("the ad service runs after");
  const startedInit = seconds();
  await machine.run(make ?? "", machine.folder);
  writeFileSync(join(bot, "bot.ts"), program ?? "");
  measure("the bot is installed after");
  await machine.start(run ?? "", (output) => output.includes("runs; webhooks: "), bot);
  measure("the bot runs after");
  expect(await isOpen("127.0.0.1", webhookPort)).toBe(true);
  expect(await isOpen("127.0.0.2", webhookPort), "everything listens on 127.0.0.1 only").toBe(false);

  await page.goto(`http://127.0.0.1:${ports.chat}`);
  // The bot's answer to /start, which a new chat sends.
  await expect(page.getByText("watch an ad for 10 coins")).toBeVisible({ timeout: 20_000 });
  await page.getByRole("textbox", { name: "Message" }).fill("/bonus");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "🎁 Watch and earn" }).click({ timeout: 60_000 });
  const miniapp = page.frameLocator("#screen iframe");
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await miniapp.getByRole("button", { name: /^Reward earned/ }).click({ timeout: 60_000 });
  await miniapp.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("Thank you! You earned 10 coins.")).toBeVisible({ timeout: 60_000 });
  measure("the reward is paid after");

  await expect
    .poll(output, { timeout: 120_000 })
    .toMatch(
      /There is no console, since its build failed; the chat goes on[\s\S]*main\.tsx[\s\S]*The output names the file/,
    );
  const unbuilt = await fetch(`http://127.0.0.1:${ports.adService}/console`, { headers: { accept: "text/html" } });
  expect([unbuilt.status, await unbuilt.text()]).toEqual([503, expect.stringContaining("npm run build")]);

  console.log(`docs/first-bot.md: ${times.join(", ")}; from npm init: ${(seconds() - startedInit).toFixed(1)} s`);

  expect(await machine.run(doctor ?? "", bot)).toMatch(/✓ token.*\n✓ bot.*\n✓ webhook/);
});
