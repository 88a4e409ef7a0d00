import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "@playwright/test";
import { freePort, root } from "../../scripts/processes.ts";

/** npm downloads packages and Node, and the machine may be busy. */
test.setTimeout(20 * 60_000);
const STEP_MS = 8 * 60_000;

let clone: string;
const background: ChildProcess[] = [];

test.beforeAll(() => {
  clone = join(mkdtempSync(join(tmpdir(), "intermission-recipe-")), "clone");
  execFileSync("git", ["clone", "--quiet", root, clone]);
  // Includes uncommitted changes in the tested clone.
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of git("ls-files", "-z", "--modified", "--others", "--exclude-standard")) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(clone, file));
    else rmSync(join(clone, file), { force: true });
  }
});

test.afterAll(async () => {
  for (const shell of background.toReversed()) {
    const ended = shell.exitCode !== null || new Promise((resolve) => shell.once("exit", resolve));
    if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGTERM");
    await ended;
  }
  rmSync(dirname(clone), { recursive: true, force: true });
});

test("the README's recipe works literally in a clean clone", async ({ page }) => {
  const ports = await portsOfRecipe();
  const blocks = recipeOf(readFileSync(join(clone, "README.md"), "utf8")).map((block) => ports.inText(block));
  expect(blocks.length).toBeGreaterThan(5);
  const outputs: string[] = [];
  for (const block of blocks) {
    const server = /npm run start:(ad-service|api)/.exec(block)?.[1];
    if (server === undefined) outputs.push(await run(block));
    else await start(block, server === "api" ? ports.api : ports.adService);
  }

  const told = outputs.join("\n");
  expect(told).toContain('{"status":"ready"}');
  expect(told).toMatch(/\{"code":"[0-9A-Za-z]{16}",.*"expires_in":\d+/);
  expect(told).toContain('<div id="root">');
  expect(JSON.parse(readFileSync(join(clone, "bot.json"), "utf8"))).toMatchObject({
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

/** The section's shell blocks in order, without the indentation of the list. */
function recipeOf(readme: string): string[] {
  const section = /^## Run it for a real bot$(.*?)^##/ms.exec(readme)?.[1] ?? "";
  return [...section.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent = "", block = ""]) =>
    block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** The environment of a machine with git, its own Node and npm: none of this repository's tools or the test's settings. */
function freshMachine(): NodeJS.ProcessEnv {
  const { HOME, LANG, PATH = "" } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { HOME, LANG, PATH: folders.join(delimiter) };
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

async function run(block: string): Promise<string> {
  const shell = spawn("sh", ["-e", "-c", block], { cwd: clone, env: freshMachine(), timeout: STEP_MS });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const code = await new Promise((resolve) => shell.once("close", resolve));
  expect({ block, code, output }).toMatchObject({ code: 0 });
  return output;
}

/** Starts a server of the recipe, which keeps running as in its own terminal. */
async function start(block: string, port: number): Promise<void> {
  const shell = spawn("sh", ["-e", "-c", block], { cwd: clone, env: freshMachine(), detached: true });
  background.push(shell);
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect
    .poll(async () => shell.exitCode !== null || (await isUp()), { timeout: 180_000, intervals: [500] })
    .toBe(true);
  expect({ exitCode: shell.exitCode, output }).toMatchObject({ exitCode: null });
}
