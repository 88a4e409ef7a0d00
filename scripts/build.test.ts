import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@intermission/testing/free-port";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { bundleServers, inlineSql } from "./build.ts";
import { buildPages } from "./build-miniapp.ts";
import { root } from "./processes.ts";
import { thirdPartyNotices } from "./third-party.ts";

test("the bundle has the text of the SQL files, and a file that it would not have stops the build", () => {
  const migrations = join(root, "apps/ad-service/src/migrations.ts");
  const inlined = inlineSql(readFileSync(migrations, "utf8"), migrations);
  expect(inlined).toContain("create table events");
  expect(inlined).not.toContain("import.meta.url");
  const other = 'const page = readFileSync(new URL("./page.html", import.meta.url));';
  expect(() => inlineSql(other, "/repository/page.ts")).toThrow("/repository/page.ts reads a file that the bundle");
});

test("the notices have each bundled package once, with the text of its licence; one without a licence stops the build", () => {
  const folder = mkdtempSync(join(tmpdir(), "intermission-notices-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const add = (name: string, manifest: object) => {
    const path = join(folder, "node_modules", name);
    mkdirSync(join(path, "lib"), { recursive: true });
    writeFileSync(join(path, "package.json"), JSON.stringify({ name, version: "1.2.3", ...manifest }));
    return path;
  };
  const scoped = add("@scope/one", { license: "MIT" });
  writeFileSync(join(scoped, "LICENSE.md"), "The text of one.\n");
  const plain = add("two", { license: "Apache-2.0" });
  writeFileSync(join(plain, "NOTICE"), "The notice of two.");
  const ids = [`${scoped}/lib/a.js`, `${scoped}/lib/b.js`, `\0${plain}/index.js?x`, "/repository/apps/api/src/main.ts"];
  const notices = thirdPartyNotices(ids);
  expect(notices.match(/^@scope\/one 1\.2\.3 \(MIT\)\n\nThe text of one\.$/gm)).toHaveLength(1);
  expect(notices).toMatch(/^two 1\.2\.3 \(Apache-2\.0\)\n\nThe notice of two\.$/m);
  expect(() => thirdPartyNotices([`${add("three", {})}/index.js`])).toThrow(/three names no licence/);
});

test("a copy of dist starts on PostgreSQL, is ready, creates a code, and stops on SIGTERM with 0", {
  tags: "long",
  timeout: 240_000,
}, async () => {
  if (!["miniapp", "console"].every((app) => existsSync(join(root, "apps", app, "dist/index.html"))))
    await buildPages();
  const folder = mkdtempSync(join(tmpdir(), "intermission-bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await bundleServers(folder);
  expect(filesOf(join(folder, "ad-service/dist"))).toEqual(
    expect.arrayContaining([
      "cli.js",
      "cli.js.map",
      "main.js",
      "main.js.map",
      "miniapp/index.html",
      "console/index.html",
      "package.json",
    ]),
  );
  expect(readFileSync(join(folder, "ad-service/dist/miniapp/THIRD-PARTY.md"), "utf8")).toMatch(/react-dom[\s\S]*MIT/);
  for (const server of ["ad-service", "api"]) {
    const notices = readFileSync(join(folder, server, "dist/THIRD-PARTY.txt"), "utf8");
    for (const text of [/^fastify 5[\d.]+ \(MIT\)$/m, /^pg 8[\d.]+ \(MIT\)$/m, /Permission is hereby granted/])
      expect(notices).toMatch(text);
    expect(notices).not.toMatch(/^@intermission\//m);
  }
  for (const server of ["ad-service", "api"]) expect(megabytesOf(join(folder, server))).toBeLessThan(40);

  const database = await createServerDatabase();
  onTestFinished(() => database.drop());
  const [adPort, apiPort] = [await freePort(), await freePort()];
  const [adService, api] = [`http://127.0.0.1:${adPort}`, `http://127.0.0.1:${apiPort}`];
  const shared = { PATH: process.env.PATH, DATABASE_URL: database.url, DATA_DIR: join(folder, "data") };
  const encryptionKey = randomBytes(32).toString("base64");
  const operatorToken = randomBytes(32).toString("hex");
  const ads = startBundle(join(folder, "ad-service"), {
    ...shared,
    ENCRYPTION_KEY: encryptionKey,
    OPERATOR_TOKEN: operatorToken,
    PORT: String(adPort),
    PUBLIC_URL: adService,
  });
  await untilReady(adService, ads);

  const command = (words: string[]) =>
    execFileSync(process.execPath, ["dist/cli.js", ...words, "--json"], {
      cwd: join(folder, "ad-service"),
      env: { PATH: process.env.PATH, ADS_URL: adService, OPERATOR_TOKEN: operatorToken },
    });
  const addBot = ["--bot-id", "123456789", "--name", "My bot", "--webhook-url", "https://api.example.com/webhooks/ads"];
  const { token } = JSON.parse(
    String(command(["bots", "add", ...addBot, "--publisher-api-url", "https://api.example.com"])),
  );
  const companion = startBundle(join(folder, "api"), {
    ...shared,
    AD_SERVICE_URL: adService,
    BOT_ID: "123456789",
    AD_API_TOKENS: token,
    TELEGRAM_BOT_TOKEN: "123456789:a-token-of-a-bot-that-is-made-up",
    BACKEND_API_KEY: operatorToken,
    MINIAPP_URL: "https://rewards.example.com/app",
    DIRECT_LINK_URL: "https://rewards.example.com",
    PORT: String(apiPort),
  });
  await untilReady(api, companion);
  expect((await fetch(`${adService}/app/123456789`)).status).toBe(200);
  const created = await fetch(`${api}/v1/codes/create`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ userId: "100000001" }),
  });
  expect({ status: created.status, body: await created.json() }).toMatchObject({
    status: 200,
    body: { code: expect.stringMatching(/^[0-9A-Za-z]{16,}$/) },
  });
  for (const server of [companion, ads]) expect(await stop(server)).toEqual({ code: 0, signal: null });
});

const filesOf = (folder: string) => readdirSync(folder, { recursive: true }).map(String);

function megabytesOf(folder: string): number {
  return filesOf(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1e6;
}

function startBundle(folder: string, env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, ["dist/main.js"], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

async function untilReady(address: string, server: ChildProcess): Promise<void> {
  const answer = async () => {
    if (server.exitCode !== null) return `exited with ${server.exitCode}`;
    return fetch(`${address}/readyz`).then(async (ready) => `${ready.status} ${await ready.text()}`, String);
  };
  await expect.poll(answer, { timeout: 60_000, interval: 50 }).toMatch(/^200 .*"ready"|^exited/);
  expect(server.exitCode).toBeNull();
}

async function stop(server: ChildProcess): Promise<{ code: number; signal: NodeJS.Signals | null }> {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  const [code, signal] = await ended;
  return { code, signal };
}
