import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCommandConfig, readConfig, settingNames } from "./config.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const production = { ENCRYPTION_KEY: key, PUBLIC_URL: "https://rewards.example.com/" };
const demo = { MODE: "demo", ENCRYPTION_KEY: key };

function faultsOf(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test("all faults are reported at once, each with its variable", () => {
  const faults = faultsOf({ PORT: "no", LOG_LEVEL: "loud", DATABASE_URL: "mysql://x", OPERATOR_TOKEN: "short" });
  for (const name of ["PORT", "LOG_LEVEL", "DATABASE_URL", "OPERATOR_TOKEN", "ENCRYPTION_KEY", "PUBLIC_URL"]) {
    expect(faults).toMatch(new RegExp(`^ {2}${name} `, "m"));
  }
});

test.each([
  [{ METRICS_PORT: "9464", METRICS_HOST: "0.0.0.0" }, "METRICS_TOKEN is missing"],
  [{ METRICS_PORT: "8701" }, "METRICS_PORT is the same as PORT"],
  [{ CURRENCY: "UDS" }, "CURRENCY must be an ISO 4217 currency code in capitals, such as EUR"],
  [{ CURRENCY: "eur" }, "CURRENCY must be an ISO 4217 currency code in capitals, such as EUR"],
  [{ METRICS_TOKEN: "short" }, "METRICS_TOKEN must have at least 32 characters"],
  [{ METRICS_PORT: "metrics" }, "METRICS_PORT must be a whole number from 0 to 65535"],
  [{ DRAIN_SECONDS: "1000" }, "DRAIN_SECONDS must be a number of seconds from 0 to 300"],
  [{ RATE_LIMIT_PER_TOKEN: "1e3" }, "RATE_LIMIT_PER_TOKEN must be a whole number from 1 to 1000000000"],
  [{ PUBLISHER_SHARE_PERCENT: "0x10" }, "PUBLISHER_SHARE_PERCENT must be a whole number from 0 to 100"],
  [{ RETENTION_ATTEMPTS_DAYS: "6" }, "RETENTION_ATTEMPTS_DAYS must be a whole number from 7 to 36500"],
  [{ RETENTION_CONVERSIONS_DAYS: "30" }, "RETENTION_CONVERSIONS_DAYS must be a whole number from 396 to 36500"],
  [{ PREVIOUS_ENCRYPTION_KEY: "short" }, "PREVIOUS_ENCRYPTION_KEY must be the key that ENCRYPTION_KEY was before"],
  [{ PREVIOUS_ENCRYPTION_KEY: key }, "PREVIOUS_ENCRYPTION_KEY is the same as ENCRYPTION_KEY"],
  [{ TELEGRAM_LOGIN_CLIENT_ID: "7000000001" }, "TELEGRAM_LOGIN_CLIENT_SECRET is missing"],
  [{ TELEGRAM_LOGIN_CLIENT_ID: "my_bot", TELEGRAM_LOGIN_CLIENT_SECRET: "s" }, "TELEGRAM_LOGIN_CLIENT_ID must be"],
  [{ OIDC_ISSUER: "https://id.example.com" }, "OIDC_CLIENT_ID is missing"],
  [
    { OIDC_ISSUER: "http://id.example.com", OIDC_CLIENT_ID: "ads", OIDC_CLIENT_SECRET: "s" },
    "OIDC_ISSUER must begin with https://",
  ],
  [{ MAX_DAILY_CLICKS_PER_ADDRESS: "0" }, "MAX_DAILY_CLICKS_PER_ADDRESS "],
  [{ MAX_DAILY_CLICKS_PER_ADDRESS: "many" }, "MAX_DAILY_CLICKS_PER_ADDRESS must be a whole number"],
])("the fault of %j is reported: %s", (variables, fault) => {
  expect(faultsOf({ ...production, ...variables })).toContain(fault);
});

test("people sign in by Telegram and by one other provider, if their settings are there", () => {
  expect(readConfig(production).openIdProviders).toEqual([]);
  const telegram = { TELEGRAM_LOGIN_CLIENT_ID: "7000000001", TELEGRAM_LOGIN_CLIENT_SECRET: "secret of Telegram" };
  const other = { OIDC_ISSUER: "https://id.example.com", OIDC_CLIENT_ID: "ads", OIDC_CLIENT_SECRET: "of the other" };
  expect(readConfig({ ...production, ...telegram, ...other, OIDC_NAME: "Office" }).openIdProviders).toEqual([
    {
      providerId: "telegram",
      name: "Telegram",
      issuer: "https://oauth.telegram.org",
      clientId: "7000000001",
      clientSecret: "secret of Telegram",
    },
    {
      providerId: "openid",
      name: "Office",
      issuer: "https://id.example.com",
      clientId: "ads",
      clientSecret: "of the other",
    },
  ]);
});

const secretSettings = {
  DATABASE_URL: "postgres://ads:s3cret-1@127.0.0.1/ads",
  OPERATOR_TOKEN: "s3cret-2".padEnd(32, "x"),
  METRICS_TOKEN: "s3cret-3".padEnd(32, "x"),
  PAYMENT_WEBHOOK_SECRET: "s3cret-4".padEnd(32, "x"),
  S3_ENDPOINT: "https://s3.example.com",
  S3_BUCKET: "videos",
  S3_ACCESS_KEY_ID: "s3cret-5",
  S3_SECRET_ACCESS_KEY: "s3cret-6",
  SMTP_URL: "smtp://ads:s3cret-7@mail.example.com:587",
  SMTP_FROM: "ads@example.com",
  NOTICE_BOT_TOKEN: `123456:${"s3cret-8".padEnd(32, "x")}`,
  PREVIOUS_ENCRYPTION_KEY: Buffer.alloc(32, 2).toString("base64"),
};

test("the settings in force have values where they are no secrets, and of secrets only whether they are set", () => {
  const { settings } = readConfig({ ...production, ...secretSettings, DRAIN_SECONDS: "5" });
  const of = (name: string) => settings.find((setting) => setting.name === name);
  expect(of("DRAIN_SECONDS")).toEqual({ name: "DRAIN_SECONDS", isSet: true, value: "5", isSecret: false });
  expect(of("PORT")).toEqual({ name: "PORT", isSet: false, value: "8701", isSecret: false });
  expect(of("OPERATOR_TOKEN")).toEqual({ name: "OPERATOR_TOKEN", isSet: true, value: null, isSecret: true });
  const shown = JSON.stringify(settings);
  expect(shown).not.toContain("s3cret");
  for (const secret of [key, secretSettings.PREVIOUS_ENCRYPTION_KEY]) expect(shown).not.toContain(secret);
  // Who adds a setting with such a name decides whether it is one.
  const open = ["DEMO_TELEGRAM_PUBLIC_KEY", "RATE_LIMIT_PER_TOKEN"];
  const named = settings.filter(({ name }) => /KEY|TOKEN|SECRET|PASSWORD/.test(name) && !open.includes(name));
  expect(named.filter(({ isSecret }) => !isSecret)).toEqual([]);
});

test("metrics without a token are served on loopback only", () => {
  expect(readConfig(production).metrics).toEqual({ port: undefined, host: "127.0.0.1", token: undefined });
  const open = { METRICS_PORT: "9464", METRICS_HOST: "0.0.0.0", METRICS_TOKEN: "t".repeat(32), DRAIN_SECONDS: "5" };
  expect(readConfig({ ...production, ...open })).toMatchObject({
    metrics: { port: 9464, host: "0.0.0.0", token: "t".repeat(32) },
    drainMs: 5000,
  });
});

test("the fault of a missing secret contains the command that makes one", () => {
  expect(faultsOf({ PUBLIC_URL: "https://rewards.example.com" })).toContain("openssl rand -base64 32");
});

test("a key of the wrong length is refused, and the message does not repeat it", () => {
  const short = Buffer.alloc(16, 9).toString("base64");
  const faults = faultsOf({ ...production, ENCRYPTION_KEY: short });
  expect(faults).toContain("ENCRYPTION_KEY must be 32 bytes");
  expect(faults).not.toContain(short);
});

test("without MODE the server runs in production mode, and the other addresses derive from PUBLIC_URL", () => {
  expect(readConfig(production)).toMatchObject({
    mode: "production",
    publicUrl: "https://rewards.example.com",
    directLinkUrl: "https://rewards.example.com",
    miniappUrl: "https://rewards.example.com/app",
    rateLimits: { perTokenPerSecond: 50, perUserPerMinute: 10 },
    operatorToken: undefined,
    trustProxy: undefined,
  });
});

test.each(["PUBLIC_URL", "DIRECT_LINK_URL", "MINIAPP_URL"])("production refuses plain http for %s", (name) => {
  expect(faultsOf({ ...production, [name]: "http://rewards.example.com" })).toContain(
    `${name} must begin with https://`,
  );
});

test.each(["HTTP://rewards.example.com", "hTTp://rewards.example.com", " http://rewards.example.com"])(
  "production refuses plain http in any spelling: %j",
  (address) => {
    for (const name of ["PUBLIC_URL", "DIRECT_LINK_URL", "MINIAPP_URL"]) {
      expect(faultsOf({ ...production, [name]: address })).toContain(`${name} must begin with https://`);
    }
  },
);

test.each(["PUBLIC_URL", "DIRECT_LINK_URL", "MINIAPP_URL", "S3_ENDPOINT"])(
  "%s is refused with a user name or password",
  (name) => {
    for (const userInfo of ["user@", "user:pass@", ":pass@", "@"]) {
      const faults = faultsOf({ ...production, [name]: `https://${userInfo}rewards.example.com` });
      expect(faults).toContain(`${name} must not hold a user name or password`);
    }
  },
);

test("an address in upper case is accepted; its scheme and host become lower case", () => {
  const upper = { ...production, PUBLIC_URL: "HTTPS://Rewards.Example.COM/Base/" };
  expect(readConfig(upper).publicUrl).toBe("https://rewards.example.com/Base");
});

test.each([
  ["DEMO_BOT_ID", "7000000001"],
  ["DEMO_TELEGRAM_PUBLIC_KEY", "ab".repeat(32)],
  ["DEMO_CHAT_ORIGIN", "http://127.0.0.1:8700"],
])("production refuses the demo variable %s", (name, value) => {
  expect(faultsOf({ ...production, [name]: value })).toContain(`${name} is for MODE=demo only`);
});

test.each([
  ["HOST", "0.0.0.0"],
  ["HOST", "192.168.1.5"],
  ["PUBLIC_URL", "https://rewards.example.com"],
  ["PUBLIC_URL", "http://127.0.0.1.example.com"],
])("the demo refuses %s=%s, which is not loopback", (name, value) => {
  expect(faultsOf({ ...demo, [name]: value })).toContain(`${name} must be a loopback address`);
});

test("the demo runs on loopback, with its bot and its key set together", () => {
  expect(readConfig({ ...demo, PORT: "8701" }).publicUrl).toBe("http://127.0.0.1:8701");
  expect(readConfig({ ...demo, HOST: "::1", PORT: "8701" }).publicUrl).toBe("http://[::1]:8701");
  expect(faultsOf({ ...demo, DEMO_BOT_ID: "7000000001" })).toContain("belong together");
});

test("an empty variable counts as unset", () => {
  expect(readConfig({ ...production, DATABASE_URL: "", OPERATOR_TOKEN: "" }).operatorToken).toBeUndefined();
});

test("lists are parsed, and an invalid entry is reported", () => {
  const read = readConfig({ ...production, WEBHOOK_ALLOWED_NETWORKS: "10.0.0.0/8, fd00::/8", TRUST_PROXY: "loopback" });
  expect(read).toMatchObject({
    requests: { allowedNetworks: { webhook: ["10.0.0.0/8", "fd00::/8"], vast: [], video: [] } },
    trustProxy: ["loopback"],
  });
  expect(faultsOf({ ...production, WEBHOOK_ALLOWED_NETWORKS: "everywhere" })).toContain("WEBHOOK_ALLOWED_NETWORKS");
  expect(readConfig({ ...production, TRUST_PROXY: "1" }).trustProxy).toBe(1);
  expect(faultsOf({ ...production, TRUST_PROXY: "everyone" })).toContain("TRUST_PROXY must be the number of proxies");
});

test("the command line's --url overrides ADS_URL, and a running server needs no key", () => {
  expect(readCommandConfig({ url: "http://127.0.0.1:1" }, { ADS_URL: "http://127.0.0.1:2" }).url).toBe(
    "http://127.0.0.1:1",
  );
  expect(readCommandConfig({}, {}).encryptionKey).toBeUndefined();
});

test("videos are kept in a folder, or in a bucket with all its variables set", () => {
  const bucket = {
    S3_ENDPOINT: "https://s3.example.com",
    S3_BUCKET: "videos",
    S3_ACCESS_KEY_ID: "a",
    S3_SECRET_ACCESS_KEY: "b",
  };
  expect(readConfig(production).media).toMatchObject({ kind: "folder" });
  expect(readConfig({ ...production, ...bucket }).media).toMatchObject({ kind: "bucket", bucket: "videos" });
  expect(faultsOf({ ...production, ...bucket, S3_SECRET_ACCESS_KEY: "" })).toContain("S3_SECRET_ACCESS_KEY is missing");
  expect(faultsOf({ ...production, ...bucket, MEDIA_DIR: "/srv/media" })).toContain("MEDIA_DIR and S3_BUCKET");
});

test("countries are told by a file or by a header of a trusted proxy, and not by both", () => {
  expect(readConfig(production).countries).toEqual({ kind: "none" });
  expect(readConfig({ ...production, COUNTRY_DATABASE: "/srv/countries.mmdb" }).countries).toEqual({
    kind: "file",
    file: "/srv/countries.mmdb",
  });
  const header = { ...production, COUNTRY_HEADER: "CF-IPCountry" };
  expect(readConfig({ ...header, TRUST_PROXY: "1" }).countries).toEqual({ kind: "header", header: "CF-IPCountry" });
  for (const proxy of [undefined, "false", "0"])
    expect(faultsOf({ ...header, TRUST_PROXY: proxy })).toContain("COUNTRY_HEADER needs TRUST_PROXY");
  const both = { ...header, TRUST_PROXY: "1", COUNTRY_DATABASE: "/srv/countries.mmdb" };
  expect(faultsOf(both)).toContain("COUNTRY_HEADER and COUNTRY_DATABASE are both set");
  expect(faultsOf({ ...header, COUNTRY_HEADER: "a b" })).toContain("COUNTRY_HEADER must be the name of a header");
});

test("each secret can be in a file, for the server and for the command line", () => {
  const folder = mkdtempSync(join(tmpdir(), "ads-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bucket = { S3_ENDPOINT: "https://s3.example", S3_BUCKET: "videos" };
  const secrets = {
    DATABASE_URL: "postgres://me:hush@127.0.0.1/ads",
    ENCRYPTION_KEY: key,
    PREVIOUS_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString("base64"),
    OPERATOR_TOKEN: "o".repeat(32),
    METRICS_TOKEN: "m".repeat(32),
    S3_ACCESS_KEY_ID: "id",
    S3_SECRET_ACCESS_KEY: "secret",
    SMTP_URL: "smtps://me:hush@mail.example",
    NOTICE_BOT_TOKEN: `7000000001:${"A".repeat(35)}`,
  };
  // A secret that is added later must be readable from a file, too.
  const named = settingNames.filter((name) => /_(TOKEN|KEY|KEY_ID)$|^(DATABASE|SMTP)_URL$/.test(name));
  const isSecret = (name: string) => !["DEMO_TELEGRAM_PUBLIC_KEY", "RATE_LIMIT_PER_TOKEN"].includes(name);
  expect(named.filter(isSecret).sort()).toEqual(Object.keys(secrets).sort());
  const files = Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => {
      writeFileSync(join(folder, name), `${secret}\n`);
      return [`${name}_FILE`, join(folder, name)];
    }),
  );
  const others = { PUBLIC_URL: production.PUBLIC_URL, SMTP_FROM: "ads@example.com", ...bucket };
  expect(readConfig({ ...others, ...files })).toEqual(readConfig({ ...others, ...secrets }));
  expect(readCommandConfig({}, { ...others, ...files })).toEqual(readCommandConfig({}, { ...others, ...secrets }));
  expect(faultsOf({ ...others, ...files, OPERATOR_TOKEN_FILE: join(folder, "missing") })).toContain(
    "OPERATOR_TOKEN_FILE names",
  );
});

test("a mistyped name is reported, beside the other faults if there are any, and an option of the command line is none", () => {
  expect(readConfig({ ...production, RETENTION_CODE_DAYS: "10", TRUST_PROXI: "1" }).mistypedSettings).toEqual([
    "RETENTION_CODE_DAYS is set, and nothing reads it: did you mean RETENTION_CODES_DAYS?",
    "TRUST_PROXI is set, and nothing reads it: did you mean TRUST_PROXY?",
  ]);
  expect(faultsOf({ ...production, ENCRYPTION_KEY: "", ENCRYPTON_KEY: key })).toMatch(
    /ENCRYPTION_KEY is missing.*\n.*ENCRYPTON_KEY is set, and nothing reads it: did you mean ENCRYPTION_KEY\?/,
  );
  expect(readCommandConfig({ url: "http://127.0.0.1:1" }, { ADS_ULR: "http://127.0.0.1:2" }).mistypedSettings).toEqual([
    "ADS_ULR is set, and nothing reads it: did you mean ADS_URL?",
  ]);
});

test("blanks and line breaks around a value are none of it, and quotes are refused", () => {
  const token = "t".repeat(40);
  const blank = {
    OPERATOR_TOKEN: `${token}\n`,
    PUBLIC_URL: " https://rewards.example.com \r\n",
    EMBEDDED_BUFFERS_MB: "64 ",
  };
  expect(readConfig({ ...production, ...blank })).toMatchObject({
    operatorToken: token,
    publicUrl: "https://rewards.example.com",
    buffersMegabytes: 64,
  });
  for (const [name, value] of Object.entries({
    DATABASE_URL: "'postgres://me:hush-hush@a/b'",
    OPERATOR_TOKEN: `"${token}"`,
  })) {
    const faults = faultsOf({ ...production, [name]: value });
    expect(faults).toMatch(new RegExp(`^The configuration has faults:\\n  ${name} is in quotes, .*: remove them$`));
  }
});

test.each([
  ["OPERATOR_TOKEN", `${"t".repeat(20)}\n${"u".repeat(20)}`, /must be one line of ASCII without blanks/],
  ["METRICS_TOKEN", "токен".repeat(10), /must be one line of ASCII without blanks/],
  ["HOST", "http://0.0.0.0", /must be an address of this machine without scheme, port and brackets/],
  ["HOST", "127.0.0.1:8701", /must be an address of this machine/],
  ["HOST", "[::1]", /must be an address of this machine/],
  ["DATA_DIR", "~/intermission", /only a shell replaces: write the path in full/],
  ["MEDIA_DIR", "$HOME/videos", /only a shell replaces/],
  ["PUBLIC_URL", "https://rewards.example.com/?from=here", /must have no \? and no #/],
  ["EMBEDDED_BUFFERS_MB", "0x40", /must be a whole number from 8 to 65536/],
  ["MODE", "prod", /must be production or demo/],
  ["SMTP_URL", "smtp://me:hush%@mail.example", /percent-encoded: @ as %40/],
  ["SMTP_URL", "smtp://me:hush?hush@mail.example", /percent-encoded/],
  ["SMTP_URL", "smtp://me:12/hush@mail.example:587", /percent-encoded/],
])("a value that would fail later is refused: %s=%s", (name, value, fault) => {
  expect(faultsOf({ ...production, [name]: value })).toMatch(fault);
});

test.each(["0.0.0.0", "::", "fe80::1%eth0", "localhost", "ads_1.internal"])("a server may listen at %s", (host) => {
  expect(readConfig({ ...production, HOST: host }).host).toBe(host);
});

test("links of the command line name the port that the server listens on", () => {
  expect(readCommandConfig({}, { PORT: "9001" }).publicUrl).toBe("http://127.0.0.1:9001");
  expect(readCommandConfig({}, {}).miniappUrl).toBe("http://127.0.0.1:8701/app");
});
