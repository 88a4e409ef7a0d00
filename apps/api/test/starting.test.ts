import { openDatabase } from "@intermission/postgres/open-database";
import { freePort } from "@intermission/testing/free-port";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { testConfig, testToken } from "./fixtures/api-fixture.ts";
import { startServerProcess } from "./fixtures/process-fixture.ts";

test("while another node migrates, this one is alive, says what it waits for, and answers each surface 503 in its form", {
  tags: "long",
  timeout: 120_000,
}, async () => {
  const server = await createServerDatabase();
  onTestFinished(server.drop);
  const other = await openDatabase({ databaseUrl: server.url, dataDirectory: "", schema: "other", migrations: {} });
  onTestFinished(() => other.close());
  const release = Promise.withResolvers<void>();
  const migrating = other.withoutTimeout(async (client) => {
    await client.query("select pg_advisory_lock(hashtext('intermission.migrate.api'))");
    await release.promise;
  });
  const port = await freePort();
  const started = startServerProcess({
    DATABASE_URL: server.url,
    PORT: String(port),
    BOT_ID: testConfig.botId,
    AD_API_TOKENS: testToken,
    TELEGRAM_BOT_TOKEN: testConfig.telegramBotToken,
    BACKEND_API_KEY: testConfig.backendApiKey,
  });
  const answer = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: path === "/readyz" ? "GET" : "POST",
    }).catch(() => undefined);
    return {
      status: response?.status,
      retryAfter: response?.headers.get("retry-after"),
      body: await response?.json(),
    };
  };
  const reason = 'the start waits for another node, which migrates the schema "api"';
  await expect.poll(() => answer("/readyz"), { timeout: 30_000 }).toMatchObject({ status: 503, body: { reason } });
  const message = "the service is starting; retry later";
  const refused = { status: 503, retryAfter: "1" };
  expect(await answer("/webhooks/ads")).toEqual({ ...refused, body: { error: { code: "UNAVAILABLE", message } } });
  const data = { code: "SERVICE_UNAVAILABLE", httpStatus: 503 };
  expect(await answer("/trpc/codes.create")).toMatchObject({ ...refused, body: { error: { message, data } } });
  release.resolve();
  await migrating;
  const { child, end } = await started;
  expect(await answer("/readyz")).toMatchObject({ status: 200 });
  child.kill("SIGTERM");
  expect((await end).code).toBe(0);
});
