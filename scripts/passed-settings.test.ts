import { expect, test } from "vitest";
import { environmentOf } from "./demo-stack.ts";
import { passedSettings } from "./passed-settings.ts";

test("npm start passes each setting on to the servers that have it, and names those that it sets itself", () => {
  const environment = {
    VAST_ALLOWED_NETWORKS: "127.0.0.1",
    WEBHOOK_ALLOWED_NETWORKS: "10.0.0.0/8",
    SMTP_URL_FILE: "/run/secrets/smtp",
    TRUST_PROXY: "127.0.0.1",
    PORT: "8080",
    DATABASE_URL: "postgres://of-another-program",
    OPERATOR_TOKEN_FILE: "/run/secrets/operator",
    LOG_LEVEL: "debug",
    CURRENCY: " ",
    PATH: "/bin",
  };
  const { env, ignored } = passedSettings(environment);
  expect(env["ad-service"]).toEqual({
    VAST_ALLOWED_NETWORKS: "127.0.0.1",
    WEBHOOK_ALLOWED_NETWORKS: "10.0.0.0/8",
    SMTP_URL_FILE: "/run/secrets/smtp",
    TRUST_PROXY: "127.0.0.1",
  });
  expect(env.api).toEqual({ TRUST_PROXY: "127.0.0.1" });
  expect(ignored).toEqual(["DATABASE_URL", "OPERATOR_TOKEN_FILE", "PORT"]);
});

test("what the demo sets itself is either ignored or may be replaced", () => {
  const mayBeReplaced = {
    "ad-service": ["BUYER_ALLOWED_NETWORKS", "VAST_ALLOWED_NETWORKS", "WEBHOOK_ALLOWED_NETWORKS"],
    api: [],
    both: ["DATA_DIR", "LOG_LEVEL"],
  };
  const urls = { adService: "http://a", api: "http://b", demoBot: "http://c" };
  const secrets = {} as Parameters<typeof environmentOf>[1];
  const options = { ports: {} } as Parameters<typeof environmentOf>[2];
  for (const server of ["ad-service", "api"] as const) {
    const own = Object.keys(environmentOf(server, secrets, options, urls));
    const { ignored } = passedSettings(Object.fromEntries(own.map((name) => [name, "x"])));
    expect(ignored).toEqual(
      own.filter((name) => ![...mayBeReplaced[server], ...mayBeReplaced.both].includes(name)).toSorted(),
    );
  }
});
