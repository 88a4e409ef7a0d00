import { pino } from "pino";
import { expect, test } from "vitest";
import { guardToken, type TokenGuardOptions } from "./guard-token.ts";
import { createHttpServer } from "./http-server.ts";
import { metricsRegistry } from "./metrics.ts";

const token = "the operator's token, of some length".replaceAll(" ", "_");

async function guarded(setting: TokenGuardOptions["setting"] = "OPERATOR_TOKEN") {
  const lines: string[] = [];
  const app = createHttpServer({
    logger: pino({ level: "info" }, { write: (line) => void lines.push(line) }),
    trustProxy: 1,
  });
  const registry = metricsRegistry({ service: "test", version: "1" });
  let nowMs = 0;
  const guard = guardToken({ token, setting, registry, now: () => nowMs });
  app.get("/", async (request) => {
    guard(request);
    return {};
  });
  const ask = async (authorization: string | undefined, address = "203.0.113.7") => {
    const headers = { "x-forwarded-for": address, ...(authorization !== undefined && { authorization }) };
    return app.inject({ url: "/", headers });
  };
  const warnings = () => lines.map((line) => JSON.parse(line)).filter((line) => line.setting === setting);
  return { ask, registry, warnings, lines, advance: (ms: number) => (nowMs += ms) };
}

test("three thousand wrong tokens are limited, counted, and logged once a minute; the right one passes all the time", {
  tags: "long",
}, async () => {
  const { ask, registry, warnings, lines, advance } = await guarded();
  const answers = await Promise.all(Array.from({ length: 3000 }, (_, index) => ask(`Bearer wrong_token_${index}`)));
  const refused = answers.filter(({ statusCode }) => statusCode === 429);
  expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(20);
  expect(refused).toHaveLength(2980);
  expect(Number(refused[0]?.headers["retry-after"])).toBeGreaterThan(0);
  expect((await ask(`Bearer ${token}`)).statusCode).toBe(200);
  expect((await ask("Bearer wrong", "203.0.113.8")).statusCode).toBe(401);
  expect(warnings()).toMatchObject([{ level: 40, address: "203.0.113.7", wrongTokens: 1 }]);
  advance(60_000);
  await ask(undefined);
  expect(warnings()).toMatchObject([{ wrongTokens: 1 }, { wrongTokens: 3001 }]);
  expect(await registry.metrics()).toMatch(
    /intermission_wrong_tokens_total\{[^}]*setting="OPERATOR_TOKEN"[^}]*\} 3002/,
  );
  expect(lines.join("")).not.toMatch(/wrong_token_|the_operator/);
});

test("the addresses of one IPv6 /64 have their wrong tokens limited together", async () => {
  const { ask } = await guarded();
  const statuses: number[] = [];
  for (let n = 1; n <= 21; n += 1) statuses.push((await ask("Bearer wrong", `2001:db8::${n}`)).statusCode);
  expect(statuses).toEqual([...Array(20).fill(401), 429]);
  expect((await ask("Bearer wrong", "2001:db8:0:1::1")).statusCode).toBe(401);
});

test.each(["OPERATOR_TOKEN", "METRICS_TOKEN"] as const)(
  "a wrong token is answered with the setting to look at: %s",
  async (setting) => {
    const { ask } = await guarded(setting);
    for (const authorization of [
      undefined,
      "",
      "Bearer",
      token,
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
    ]) {
      const answer = await ask(authorization);
      expect([answer.statusCode, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
      expect(answer.json().error.message).toContain(setting);
    }
    expect((await ask(`bearer  ${token}`)).statusCode).toBe(200);
  },
);
