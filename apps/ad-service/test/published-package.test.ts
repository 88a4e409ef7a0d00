// @module-tag long
import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { signLaunch } from "@intermission/publisher/testing";
import { freePort } from "@intermission/testing/free-port";
import { nodeVersions } from "@intermission/testing/node-versions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliFixture, openCliFixture } from "./fixtures/cli-fixture.ts";
import { installPublishedPackage, readmeFiles } from "./fixtures/published-package.ts";
import { openTelegramFixture } from "./fixtures/telegram-fixture.ts";

const run = promisify(execFile);
const nodes = await nodeVersions();
const clip = join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4");
const botToken = "7000000001:telegram";
let published: Awaited<ReturnType<typeof installPublishedPackage>>;
beforeAll(async () => {
  published = await installPublishedPackage();
});
afterAll(() => published.remove());

describe("the published package", () => {
  test("brings no other package, and has a licence and a README", () => {
    expect(published.packages).toEqual(["@intermission"]);
    for (const file of ["LICENSE", "README.md"])
      expect(readFileSync(join(published.installed, file), "utf8")).toBeTruthy();
    const { dependencies = {} } = JSON.parse(readFileSync(join(published.installed, "package.json"), "utf8"));
    expect(dependencies).toEqual({});
  });

  test("passes publint and @arethetypeswrong", async () => {
    expect(await published.tool("publint", ["--strict", published.tarball])).toMatchObject({ code: 0 });
    expect(await published.tool("attw", [published.tarball, "--profile", "strict"])).toMatchObject({ code: 0 });
  });

  test("is readable where it fails: no line is long, and no map is needed", () => {
    const dist = join(published.installed, "dist");
    const names = readdirSync(dist);
    const files = names.filter((name) => name.endsWith(".js") && name !== "companion-router.js");
    expect(files.length).toBeGreaterThan(6);
    for (const file of files) {
      const text = readFileSync(join(dist, file), "utf8");
      expect(Math.max(...text.split("\n").map((line) => line.length)), file).toBeLessThan(400);
      expect(text, file).not.toContain("sourceMappingURL");
    }
    expect(names.filter((name) => name.endsWith(".map"))).toEqual([]);
  });

  test.each([
    ["node10", "commonjs", "entries.ts"],
    ["node16", "node16", "entries.cts"],
    ["bundler", "esnext", "entries.ts"],
  ])("has types for TypeScript 5.4 with the module resolution %s", async (resolution, module, file) => {
    const entries = ["publisher", "companion", "in-app", "node", "stores", "testing"];
    const lines = entries.map((entry) => {
      const path = entry === "publisher" ? "" : `/${entry}`;
      const name = entry.replace("-", "_");
      return `import * as ${name}Entry from "@intermission/publisher${path}";\nexport const ${name} = ${name}Entry;`;
    });
    writeFileSync(join(published.project, file), lines.join("\n"));
    const words = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom", "--types", "node", file];
    const modules = ["--moduleResolution", resolution, "--module", module];
    const { output } = await published.oldTypeScript([...modules, ...words]);
    // Current types of Node are not made for TypeScript 5.4: only faults of the package and of its use count.
    expect(output.split("\n").filter((line) => /@intermission|^entries/.test(line))).toEqual([]);
  });

  /** A file and all files of the package that it imports. */
  function textsOf(file: string, seen = new Set<string>()): string[] {
    if (seen.has(file)) return [];
    seen.add(file);
    const text = readFileSync(join(published.installed, "dist", file), "utf8");
    const imports = [...text.matchAll(/from\s*["']\.\/([^"']+)["']/g)];
    return [text, ...imports.flatMap(([, name = ""]) => textsOf(name, seen))];
  }
  test.each([
    ["publisher.js", 13_000],
    // A third of it are checks that publisher.js has, too, in a file of both.
    ["grammy.js", 8000],
  ])("%s and its imports have at most %d bytes, compressed", (file, most) => {
    const sizes = textsOf(file).map((text) => gzipSync(text, { level: 9 }).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(most);
  });

  test.each(["publisher.js", "grammy.js", "companion.js"])("%s runs without Node's modules", (file) => {
    const imported = textsOf(file).flatMap((text) => [...text.matchAll(/(?:from|import)\s*\(?["']([^"']+)["']/g)]);
    expect(imported.map(([, name]) => name).filter((name) => !name?.startsWith("./"))).toEqual([]);
  });

  // grammY's and tRPC's own types need the DOM library, and those of packages that they do not bring.
  test.each<[string, { lib: string[]; exclude?: string[] }]>([
    ["examples", { lib: ["es2023", "dom"] }],
    [
      "examples without grammY and tRPC, without the types of a browser",
      { lib: ["es2023"], exclude: ["bot.ts", "trpc.ts", "out"] },
    ],
  ])(
    "has types that fit the README's %s, strictly and with all libraries checked",
    async (_name, { lib, exclude = ["out"] }) => {
      const missing =
        'declare module "node-fetch"; declare module "ws" { class WebSocket {} class WebSocketServer {} }';
      const files = new Map([...readmeFiles(), ["missing.d.ts", missing]]);
      for (const [name, content] of files) writeFileSync(join(published.project, name), content);
      const strictly = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
      const compilerOptions = {
        target: "es2022",
        lib,
        module: "nodenext",
        types: ["node"],
        outDir: "out",
        ...strictly,
      };
      writeFileSync(join(published.project, "tsconfig.json"), JSON.stringify({ compilerOptions, exclude }));
      expect(await published.tool("tsc", [])).toEqual({ code: 0, output: "" });
    },
  );

  if (nodes.every(([version]) => version !== "20"))
    test("NOT TESTED ON NODE 20: none is on the path", ({ skip }) => skip());

  test.each(nodes)("passes the README's examples of tests on Node %s", async (_version, binary) => {
    const { stdout } = await run(binary, ["--test", "out/bot.test.js", "out/companion.test.js"], {
      cwd: published.project,
    });
    expect(stdout).toMatch(/pass 4\n/);
  });

  test.each(nodes)("is loaded by require(), without ES modules, on Node %s", async (_version, binary) => {
    const script = `
      const { createAds, webhook, AdsError } = require("@intermission/publisher");
      const { createCompanion } = require("@intermission/publisher/companion");
      const { bonusCommand } = require("@intermission/publisher/grammy");
      const { toNodeHandler } = require("@intermission/publisher/node");
      const { sqliteStore } = require("@intermission/publisher/stores");
      const { fakeAdService } = require("@intermission/publisher/testing");
      for (const one of [createCompanion, bonusCommand, toNodeHandler, sqliteStore])
        if (typeof one !== "function") throw new Error("an export is missing");
      (async () => {
        const paid = [];
        const fake = fakeAdService({ webhook: webhook(({ userId }) => void paid.push(userId), { tokens: "ad_test" }) });
        const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
        const { code } = await ads.createCode({ userId: "42" });
        await fake.earn(code);
        const imported = await import("@intermission/publisher");
        const isBoth = (error) => error instanceof AdsError && error instanceof imported.AdsError;
        const refused = imported.AdsError !== AdsError && (await ads.code("unknown").catch(isBoth));
        console.log(JSON.stringify({ paid, refused }));
      })();`;
    writeFileSync(join(published.project, "bot.cjs"), script);
    const { stdout } = await run(binary, ["--no-experimental-require-module", "bot.cjs"], { cwd: published.project });
    expect(JSON.parse(stdout)).toEqual({ paid: ["42"], refused: true });
  });

  test("needs at most 20 lines for a bot", () => {
    const lines = readmeFiles().get("bot.ts")?.split("\n") ?? [];
    expect(lines.filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(20);
  });
});

describe("the README's bot, with a running ad service and a stand-in for Telegram", () => {
  let fixture: CliFixture;
  let server: Awaited<ReturnType<CliFixture["startServer"]>>;
  let telegram: Awaited<ReturnType<typeof openTelegramFixture>>;
  let apiToken: string;
  const keys = generateKeyPairSync("ed25519");
  const privateKey = keys.privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");

  beforeAll(async () => {
    fixture = await openCliFixture();
    telegram = await openTelegramFixture();
    server = await fixture.startServer({
      WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8",
      DEMO_BOT_ID: "7000000001",
      DEMO_TELEGRAM_PUBLIC_KEY: keys.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex"),
    });
    if (server.child.exitCode !== null) throw new Error((await server.end).err);
    const added = await fixture.ads(["bots", "add", "--bot-id", "7000000001", "--name", "Coins", "--json"]);
    apiToken = JSON.parse(added.out).token;
    const campaign = ["--name", "House", "--advertiser", "Acme", "--format", "rewarded", "--video", clip];
    expect(await fixture.ads(["campaigns", "add", ...campaign])).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    server.child.kill("SIGTERM");
    await server.end;
    await telegram.close();
    await fixture.close();
  });

  test.each(nodes)("on Node %s, a view that /bonus offered ends with the bot's thanks", async (version, binary) => {
    const cli = join(published.project, "node_modules/.bin/intermission-publisher");
    const port = await freePort();
    const userId = `${version}00000042`;
    const env = {
      AD_SERVICE_URL: fixture.address,
      AD_API_TOKEN: apiToken,
      TELEGRAM_BOT_TOKEN: botToken,
      BOT_API_URL: telegram.address,
      PORT: String(port),
    };
    const bot = spawn(binary, ["out/bot.js"], {
      cwd: published.project,
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "inherit", "inherit"],
    });
    try {
      const webhookUrl = `http://127.0.0.1:${port}/webhook`;
      await expect
        .poll(
          () =>
            fetch(webhookUrl).then(
              ({ status }) => status,
              () => 0,
            ),
          { timeout: 20_000 },
        )
        .toBe(405);
      await fixture.ads(["bots", "update", "7000000001", "--webhook-url", webhookUrl]);
      // At first the ad service's own test of the new address may be under way.
      const examine = () =>
        run(binary, [cli, "doctor"], { env: { ...env, FORCE_COLOR: "0" } }).then(
          ({ stdout }) => stdout,
          ({ stdout }) => stdout,
        );
      await expect
        .poll(examine, { timeout: 20_000 })
        .toMatch(/✓ ad service.*\n✓ clock.*\n✓ token.*\n✓ bot.*\n✓ webhook/);
      telegram.say(userId, "/bonus");
      await expect.poll(() => telegram.sentTo(userId), { timeout: 20_000 }).toHaveLength(1);
      const url = telegram.sentTo(userId)[0]?.reply_markup?.inline_keyboard[0]?.[0]?.web_app?.url ?? "";
      await watch(userId, new URL(url).searchParams.get("code") ?? "");
      await expect.poll(() => telegram.sentTo(userId)[1]?.text, { timeout: 20_000 }).toContain("You earned 10 coins");
    } finally {
      const ended = new Promise((resolve) => bot.once("close", resolve));
      bot.kill();
      await ended;
    }
  });

  /** Opens the ad, plays its two seconds in real time, and closes it. */
  async function watch(userId: string, code: string): Promise<void> {
    const initData = signLaunch({ userId, botToken, privateKey });
    const opened = await player("", { bot_id: "7000000001", init_data: initData, code });
    expect(opened).toMatchObject({ outcome: "session" });
    const [path, token] = [`/${opened.session_id}/reports`, opened.token];
    await player(path, { token, reports: [], started: true });
    const lengthMs = Number(opened.ad?.duration_ms);
    await new Promise((resolve) => setTimeout(resolve, lengthMs + 100));
    const reports = [{ sequence: 0, from_ms: 0, to_ms: lengthMs, visible: true, muted: true }];
    expect(await player(path, { token, reports, closed: "tap" })).toMatchObject({ state: "rewarded" });
  }

  async function player(path: string, body: unknown): Promise<PlayerAnswer> {
    const response = await fetch(`${fixture.address}/player/v1/sessions${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as PlayerAnswer;
  }
});

interface PlayerAnswer {
  session_id?: string;
  token?: string;
  ad?: { duration_ms: number };
}
