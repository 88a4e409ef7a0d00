import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "./config.ts";

const privateKey = (type: "ed25519" | "x25519") =>
  (type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")).privateKey
    .export({ type: "pkcs8", format: "der" })
    .toString("base64");

const sound = {
  MODE: "demo",
  AD_SERVICE_URL: "http://127.0.0.1:8701/",
  AD_API_TOKEN: "ad_t",
  OPERATOR_TOKEN: "o".repeat(32),
  API_URL: "http://127.0.0.1:8702/",
  BACKEND_API_KEY: "k".repeat(32),
  BOT_ID: "7000000001",
  TELEGRAM_BOT_TOKEN: "7000000001:made-up",
  DEMO_TELEGRAM_PRIVATE_KEY: privateKey("ed25519"),
  MINIAPP_URL: "http://127.0.0.1:8701/app",
  DATA_DIR: "/somewhere",
};

test("a valid environment is read, and the bot gets its own data folder", () => {
  expect(readConfig(sound)).toMatchObject({
    host: "127.0.0.1",
    port: 8700,
    dataFolder: "/somewhere/demo-bot",
    adService: { url: "http://127.0.0.1:8701", apiToken: "ad_t", operatorToken: "o".repeat(32) },
    backend: { apiUrl: "http://127.0.0.1:8702", cooldownSeconds: 15 },
    miniappOrigin: "http://127.0.0.1:8701",
  });
});

const ownBot = { ...sound, API_URL: "", BACKEND_API_KEY: "", BOT_NAME: "My bot" };

test("a bot of one's own has a name, and needs no companion API", () => {
  expect(readConfig(ownBot).backend).toEqual({ botName: "My bot" });
  expect(() => readConfig({ ...ownBot, AD_SERVICE_URL: "" })).toThrow("AD_SERVICE_URL is missing");
  expect(() => readConfig({ ...ownBot, MODE: "production" })).toThrow("MODE must be demo");
  expect(() => readConfig({ ...ownBot, HOST: "0.0.0.0" })).toThrow("HOST must be a loopback address");
});

test.each([
  ["production", { MODE: "production" }, "MODE must be demo"],
  ["no mode, because the default is production", { MODE: "" }, "MODE must be demo"],
  ["an address that others can reach", { HOST: "0.0.0.0" }, "HOST must be a loopback address"],
  ["a key of another type", { DEMO_TELEGRAM_PRIVATE_KEY: privateKey("x25519") }, "must be an Ed25519 key"],
  ["an invalid key", { DEMO_TELEGRAM_PRIVATE_KEY: "secret" }, "must be an Ed25519 key"],
  ["an invalid address", { MINIAPP_URL: "javascript:alert(1)" }, "MINIAPP_URL must be an http(s) address"],
])("%s is refused", (_what, changes, words) => {
  expect(() => readConfig({ ...sound, ...changes })).toThrow(words);
});

test("all faults are reported together, without any secret's value", () => {
  const read = () => readConfig({ BACKEND_API_KEY: "hush", DEMO_TELEGRAM_PRIVATE_KEY: "hush", HOST: "::" });
  expect(read).toThrow(
    /MODE .*\n.*HOST .*\n.*AD_SERVICE_URL is missing.*\n.*AD_API_TOKEN is missing.*\n.*OPERATOR_TOKEN is missing.*\n.*API_URL is missing.*\n.*BACKEND_API_KEY .*\n.*BOT_ID is missing.*\n.*TELEGRAM_BOT_TOKEN is missing.*\n.*DEMO_TELEGRAM_PRIVATE_KEY .*\n.*MINIAPP_URL is missing/,
  );
  expect(read).not.toThrow(/hush/);
});

test("each secret can be in a file, and one that cannot be read is named", () => {
  const folder = mkdtempSync(join(tmpdir(), "demo-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { AD_API_TOKEN, OPERATOR_TOKEN, BACKEND_API_KEY, TELEGRAM_BOT_TOKEN, DEMO_TELEGRAM_PRIVATE_KEY, ...others } =
    sound;
  const secrets = { AD_API_TOKEN, OPERATOR_TOKEN, BACKEND_API_KEY, TELEGRAM_BOT_TOKEN, DEMO_TELEGRAM_PRIVATE_KEY };
  const files = Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => {
      writeFileSync(join(folder, name), `${secret}\n`);
      return [`${name}_FILE`, join(folder, name)];
    }),
  );
  expect(readConfig({ ...others, ...files })).toEqual(readConfig(sound));
  expect(() => readConfig({ ...others, ...files, AD_API_TOKEN_FILE: join(folder, "missing") })).toThrow(
    /AD_API_TOKEN_FILE names .*missing, which cannot be read \(ENOENT\)/,
  );
});
