import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCommandConfig, readConfig } from "./config.ts";

const sound = {
  BOT_ID: "7000000001",
  TELEGRAM_BOT_TOKEN: `7000000001:${"A".repeat(35)}`,
  AD_SERVICE_URL: "https://ads.example/",
  AD_API_TOKENS: "ad_the_newest_token, ad_the_older_token",
  BACKEND_API_KEY: "k".repeat(43),
  MINIAPP_URL: "https://ads.example/app/",
  DIRECT_LINK_URL: "https://go.example",
};

test("tokens are ordered newest first, addresses lose their trailing slash, an empty variable counts as unset", () => {
  expect(readConfig({ ...sound, DAILY_CAP: "", REWARD_REWARDED: "10" })).toMatchObject({
    mode: "production",
    adServiceUrl: "https://ads.example",
    links: { miniappUrl: "https://ads.example/app" },
    miniappOrigin: "https://ads.example",
    bot: {
      adApiTokens: ["ad_the_newest_token", "ad_the_older_token"],
      payout: { rewarded: 10, directLink: 1, task: 1, dailyCap: undefined, perCode: "once" },
      twoFieldEvents: "off",
    },
  });
});

test("all faults are reported at once, and a missing secret with the command that makes one", () => {
  const read = () =>
    readConfig({ ...sound, PORT: "http", BACKEND_API_KEY: "", TELEGRAM_BOT_TOKEN: `1:${"A".repeat(35)}` });
  expect(read).toThrow(
    /PORT [\s\S]*BACKEND_API_KEY is missing; .*openssl rand -base64 32[\s\S]*TELEGRAM_BOT_TOKEN .*another bot/,
  );
});

test.each([
  [{ METRICS_PORT: "9464", METRICS_HOST: "0.0.0.0" }, "METRICS_TOKEN is missing"],
  [{ METRICS_PORT: "8702" }, "METRICS_PORT is the same as PORT"],
  [{ PORT: "70000" }, "PORT must be a whole number from 0 to 65535"],
  [{ REWARD_REWARDED: "0x10" }, "REWARD_REWARDED must be a whole number from 0 to 1000000: write it in digits"],
  [{ REWARD_DIRECT_LINK: "1e3" }, "REWARD_DIRECT_LINK must be a whole number from 0 to 1000000: write it in digits"],
  [{ DAILY_CAP: "5,000" }, "DAILY_CAP must be a whole number from 1 to 1000000: write 5000"],
  [{ DRAIN_SECONDS: "0x10" }, "DRAIN_SECONDS must be a number of seconds from 0 to 300"],
  [{ LOG_LEVEL: "loud" }, "LOG_LEVEL must be one of trace, debug"],
  [{ METRICS_TOKEN: "short", PORT: "http" }, "METRICS_TOKEN must have at least 32 characters"],
])("the fault of %j is reported: %s", (variables, fault) => {
  expect(() => readConfig({ ...sound, ...variables })).toThrow(fault);
});

test("metrics without a token are served on loopback only", () => {
  expect(readConfig(sound).metrics).toEqual({ port: undefined, host: "127.0.0.1", token: undefined });
  const open = { METRICS_PORT: "9464", METRICS_HOST: "0.0.0.0", METRICS_TOKEN: "t".repeat(32), DRAIN_SECONDS: "5" };
  expect(readConfig({ ...sound, ...open })).toMatchObject({ metrics: { port: 9464, host: "0.0.0.0" }, drainMs: 5000 });
});

test.each([
  ["1", 1],
  ["false", false],
  ["10.0.0.0/8,127.0.0.1", ["10.0.0.0/8", "127.0.0.1"]],
])("TRUST_PROXY=%s is parsed as %j", (text, expected) => {
  expect(readConfig({ ...sound, TRUST_PROXY: text }).trustProxy).toEqual(expected);
});

test.each([
  [{ TRUST_PROXY: "everyone" }, "TRUST_PROXY must be the number of proxies"],
  [{ DATABASE_URL: "postgresql.example.com/db" }, "DATABASE_URL must begin with postgres://"],
  [{ DATABASE_URL: "postgres://a:b%@db/x" }, "DATABASE_URL has a %"],
])("the fault of %j is reported: %s", (variables, fault) => {
  expect(() => readConfig({ ...sound, ...variables })).toThrow(fault);
});

test("with ENCRYPTION_KEY the bot of the environment may be left out, but only as a whole", () => {
  const { AD_SERVICE_URL, MINIAPP_URL, DIRECT_LINK_URL } = sound;
  const withoutBot = {
    AD_SERVICE_URL,
    MINIAPP_URL,
    DIRECT_LINK_URL,
    ENCRYPTION_KEY: Buffer.alloc(32).toString("base64"),
  };
  expect(readConfig(withoutBot).bot).toBeUndefined();
  expect(() => readConfig({ ...withoutBot, ENCRYPTION_KEY: undefined })).toThrow("BOT_ID is missing");
  expect(() => readConfig({ ...withoutBot, BOT_ID: sound.BOT_ID })).toThrow(
    /AD_API_TOKENS is missing[\s\S]*TELEGRAM_BOT_TOKEN is missing[\s\S]*BACKEND_API_KEY is missing/,
  );
});

test.each([
  [
    { AD_SERVICE_URL: "https://ads.example/client/v1" },
    "AD_SERVICE_URL must be the ad service's base: remove /client/v1",
  ],
  [{ AD_SERVICE_URL: "https://ads.example/a/client/v1/" }, "AD_SERVICE_URL must be the ad service's base"],
  [{ AD_API_TOKENS: '"ad_the_newest_token"' }, "AD_API_TOKENS.0 is in quotes"],
  [{ AD_API_TOKENS: "Bearer ad_the_newest_token" }, 'AD_API_TOKENS.0 begins with "Bearer": remove the word'],
  [
    { AD_API_TOKENS: `ad_the_newest_token,${sound.TELEGRAM_BOT_TOKEN}` },
    "AD_API_TOKENS.1 is a token of @BotFather, and must be one of the ad service",
  ],
])("the pasted %j is refused at start, with what to do", (variables, fault) => {
  expect(() => readConfig({ ...sound, ...variables })).toThrow(fault);
  expect(() => readConfig({ ...sound, ...variables })).not.toThrow(/AAAA|the_newest/);
});

test("the message never repeats a secret", () => {
  const secret = "short-secret";
  expect(() => readConfig({ ...sound, BACKEND_API_KEY: secret, AD_API_TOKENS: secret })).not.toThrow(secret);
});

test.each([
  ["MINIAPP_URL", "http://ads.example/app"],
  ["DIRECT_LINK_URL", "http://go.example"],
])("in production %s must be https, in the demo it may be http", (name, address) => {
  expect(() => readConfig({ ...sound, [name]: address })).toThrow(name);
  expect(() => readConfig({ ...sound, [name]: address.replace("http", "HTTP") })).toThrow(name);
  expect(readConfig({ ...sound, [name]: address, MODE: "demo" }).mode).toBe("demo");
});

test.each(["AD_SERVICE_URL", "MINIAPP_URL", "DIRECT_LINK_URL"])(
  "%s is refused with a user name or password",
  (name) => {
    for (const userInfo of ["user@", "user:pass@", ":pass@", "@"]) {
      const read = () => readConfig({ ...sound, [name]: `https://${userInfo}ads.example` });
      expect(read).toThrow(`${name} must not hold a user name or password`);
    }
  },
);

test("an address in upper case is accepted; its scheme and host become lower case", () => {
  const read = readConfig({ ...sound, MINIAPP_URL: "HTTPS://Ads.Example/App" });
  expect(read.links.miniappUrl).toBe("https://ads.example/App");
});

test("each secret can be in a file, and a placeholder as bot token is refused there, too", () => {
  const folder = mkdtempSync(join(tmpdir(), "api-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const secrets = {
    DATABASE_URL: "postgres://me:hush@127.0.0.1/api",
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
    AD_API_TOKENS: sound.AD_API_TOKENS,
    TELEGRAM_BOT_TOKEN: sound.TELEGRAM_BOT_TOKEN,
    BACKEND_API_KEY: sound.BACKEND_API_KEY,
    METRICS_TOKEN: "m".repeat(32),
  };
  const files = Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => {
      writeFileSync(join(folder, name), `${secret}\n`);
      return [`${name}_FILE`, join(folder, name)];
    }),
  );
  const others = Object.fromEntries(Object.entries(sound).filter(([name]) => !Object.hasOwn(secrets, name)));
  expect(readConfig({ ...others, ...files })).toEqual(readConfig({ ...sound, ...secrets }));
  writeFileSync(join(folder, "TELEGRAM_BOT_TOKEN"), "7000000001:the-token-that-BotFather-shows");
  expect(() => readConfig({ ...others, ...files })).toThrow("TELEGRAM_BOT_TOKEN is the placeholder of a documentation");
});

test("a mistyped name is reported, beside the other faults if there are any", () => {
  expect(readConfig({ ...sound, DAILY_CPA: "5" }).mistypedSettings).toEqual([
    "DAILY_CPA is set, and nothing reads it: did you mean DAILY_CAP?",
  ]);
  const { AD_API_TOKENS: token, ...others } = sound;
  expect(() => readConfig({ ...others, AD_API_TOKEN: token })).toThrow(
    /AD_API_TOKENS is missing.*\n.*AD_API_TOKEN is set, and nothing reads it: did you mean AD_API_TOKENS\?/,
  );
  expect(readCommandConfig({ DATABASE_URI: "postgres://127.0.0.1/ads" }).mistypedSettings).toEqual([
    "DATABASE_URI is set, and nothing reads it: did you mean DATABASE_URL?",
  ]);
});
