import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startFakeBotApi } from "../examples/fake-bot-api.ts";
import { type BotKindName, botKinds, makeBot } from "./make-bot.ts";
import { packPublisher } from "./pack-publisher.ts";
import { freePort, root } from "./processes.ts";
import { commandsInSentences, pages, shellCommands, snippetsOf } from "./snippets.ts";

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "intermission-made-"));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const kinds = Object.keys(botKinds) as BotKindName[];

test("each folder of the examples is a kind of bot", () => {
  const folders = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  // What a channel needs is shown by a bot that earns nothing else.
  const others = ["node_modules", "watch-to-join"];
  const known = new Set<string>([...Object.values(botKinds).map(({ example }) => example), ...others]);
  expect(folders.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});

test.each(kinds)(
  "the folder of a bot with %s names nothing that is in the clone alone, but by its whole path",
  async (kind) => {
    const packed = join(scratch, "packed.tgz");
    writeFileSync(packed, "the package");
    const folder = join(scratch, "my-bot");
    await makeBot(kind, folder, async () => packed);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(0);
    for (const { parentPath, name } of files) {
      const text = readFileSync(join(parentPath, name), "utf8");
      expect(text, name).not.toMatch(/workspace:|"catalog:|\.\.\/\.\.\//);
      if (name === "requirements.txt") expect(text).toContain(`file://${join(root, "clients/python")}`);
    }
    await expect(makeBot(kind, folder, async () => packed)).rejects.toThrow("not an empty folder");
  },
);

const { npm_config_registry: _, ...environment } = process.env;
/** Nothing may ask a registry for a name of ours: whoever takes it there gets the token of whoever runs the command. */
const offline = { ...environment, npm_config_registry: "http://127.0.0.1:9", npm_config_fetch_retries: "0" };

test("the publisher's command line runs from any folder by the clone's pnpm, as the pages say", {
  tags: "long",
}, () => {
  symlinkSync(root, join(scratch, "intermission"));
  mkdirSync(join(scratch, "my-bot"));
  const found = [
    ...pages().flatMap(commandsInSentences),
    ...pages()
      .flatMap(snippetsOf)
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => shellCommands(text)),
  ]
    .map(({ words }) => words)
    .filter(([program = "", script = ""]) => /(^|\/)pnpm$/.test(program) && /^(publisher|doctor)$/.test(script));
  const commands = new Set(found.map(([, ...words]) => words.join(" ")));
  expect(commands.size).toBeGreaterThan(4);
  for (const command of commands) {
    const ran = spawnSync("../intermission/pnpm", command.split(" "), {
      cwd: join(scratch, "my-bot"),
      env: offline,
      encoding: "utf8",
    });
    expect(ran.stderr, command).toMatch(/AD_SERVICE_URL\) is missing/);
    expect(ran.status, command).toBe(2);
  }
});

describe("a made bot", { tags: "long", timeout: 600_000 }, () => {
  const startable: [BotKindName, program: string][] = [
    ["telegraf", "node"],
    ["express", "node"],
    ["php", "php"],
    ["go", "go"],
  ];

  test.each(startable)("with %s is installed and answers webhooks", async (kind, program) => {
    if (spawnSync(program, [program === "go" ? "version" : "--version"]).status !== 0)
      return console.log(`!!! a bot with ${kind} was not started: there is no ${program}`);
    const folder = join(scratch, "my-bot");
    const { install, start } = await makeBot(kind, folder, () => packPublisher(scratch));
    const env = {
      ...environment,
      npm_config_prefer_offline: "true",
      npm_config_audit: "false",
      npm_config_fund: "false",
    };
    for (const command of install) execFileSync("sh", ["-c", command], { cwd: folder, env });
    expect(existsSync(join(folder, "node_modules/@intermission/publisher"))).toBe(install.length > 0);
    const [port, telegram] = [await freePort(), await startFakeBotApi("7000000001:x")];
    // An ad service that knows no code: it is asked for none.
    const service = createServer((_request, response) => void response.writeHead(404).end()).listen(0, "127.0.0.1");
    await new Promise((resolve) => service.once("listening", resolve));
    const child = spawn("sh", ["-c", `exec ${start}`], {
      cwd: folder,
      detached: true,
      stdio: "ignore",
      env: {
        ...env,
        PORT: String(port),
        BOT_ID: "7000000001",
        AD_API_TOKEN: "ad_test",
        AD_SERVICE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
        TELEGRAM_BOT_TOKEN: "7000000001:x",
        BOT_API_URL: telegram.url,
      },
    });
    try {
      const post = () =>
        fetch(`http://127.0.0.1:${port}/webhooks/ads`, {
          method: "POST",
          body: "{}",
          headers: { "content-type": "application/json" },
        });
      await expect
        .poll(
          () =>
            post().then(
              ({ status }) => status,
              () => "no answer",
            ),
          { timeout: 120_000, interval: 200 },
        )
        .toBe(401);
    } finally {
      process.kill(-(child.pid ?? 0), "SIGKILL");
      telegram.stop();
      service.close();
    }
  });
});
