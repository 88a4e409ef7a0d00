import { openDatabase } from "@intermission/postgres/open-database";
import { askServer } from "@intermission/testing/copy-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { healthRoutes, NotReady, requireDatabase } from "./health.ts";
import { createHttpServer } from "./http-server.ts";
import { metricsRegistry } from "./metrics.ts";

async function answersOf(check: () => Promise<unknown>, { isStopping = false } = {}) {
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  healthRoutes(app, { check, isStopping: () => isStopping });
  const answers = [await app.inject("/healthz"), await app.inject("/readyz")];
  await app.close();
  expect(answers.map(({ headers }) => headers["cache-control"])).toEqual(["no-store", "no-store"]);
  return answers.map(({ statusCode }) => statusCode);
}

test("a server with a working database is alive and ready", async () => {
  expect(await answersOf(async () => {})).toEqual([200, 200]);
});

test("a server whose database fails or does not answer within two seconds is alive but not ready", async () => {
  const dead = answersOf(() => Promise.reject(new Error("gone")));
  const silent = answersOf(() => new Promise(() => {}));
  expect(await Promise.all([dead, silent])).toEqual([
    [200, 503],
    [200, 503],
  ]);
});

test("a server is not ready while its database is read-only, says so, and is ready again by itself", async () => {
  const { url, drop } = await createServerDatabase();
  onTestFinished(drop);
  const options = { databaseUrl: url, dataDirectory: "", schema: "shop", migrations: {} };
  const database = await openDatabase(options);
  await requireDatabase(database);
  await database.close();
  // Only once the schema is there: a start that has to write is refused.
  const name = new URL(url).pathname.slice(1);
  await askServer(url, `alter database ${name} set default_transaction_read_only = on`);
  const readOnly = await openDatabase({ ...options, isExisting: true });
  await expect(requireDatabase(readOnly)).rejects.toThrow(NotReady);
  await expect(requireDatabase(readOnly)).rejects.toThrow(/the database is read-only/);
  await askServer(url, `begin read write; alter database ${name} reset default_transaction_read_only; commit`);
  // The setting of a session is that of its beginning: one that is read-only is not used again.
  await requireDatabase(readOnly);
  await readOnly.close();
});

test("a stopping server is alive but not ready, even with a working database", async () => {
  expect(await answersOf(async () => {}, { isStopping: true })).toEqual([200, 503]);
});

test("the answer tells the operator what to do, and any other fault is only logged", async () => {
  for (const [error, body] of [
    [new NotReady("run: npm run build"), { status: "not-ready", reason: "run: npm run build" }],
    [new Error("password=secret"), { status: "not-ready" }],
  ] as const) {
    const app = createHttpServer({ logger: pino({ level: "silent" }) });
    healthRoutes(app, { check: async () => {}, requirement: () => Promise.reject(error) });
    expect((await app.inject("/readyz")).json()).toEqual(body);
    expect((await app.inject("/healthz")).statusCode).toBe(200);
    await app.close();
  }
});

test("a server that is ready names what the operator should look at", async () => {
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  healthRoutes(app, { check: async () => {}, warning: () => "the clock is wrong" });
  const answer = await app.inject("/readyz");
  expect([answer.statusCode, answer.json()]).toEqual([200, { status: "ready", warning: "the clock is wrong" }]);
  await app.close();
});

test("many requests share a check, and each sees one that is a second old at most", async () => {
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  let checks = 0;
  const check = async () => {
    checks += 1;
    if (checks > 1) throw new Error("full");
  };
  healthRoutes(app, { check });
  const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await app.inject("/readyz")).statusCode));
  expect([new Set(statuses), checks]).toEqual([new Set([200]), 1]);
  await expect.poll(async () => (await app.inject("/readyz")).statusCode).toBe(503);
  await app.close();
});

test("the metrics say whether a server is ready, and whether it warns, without a request", async () => {
  const state: { fault: Error | undefined; warning: string | undefined } = { fault: undefined, warning: undefined };
  const registry = metricsRegistry({ service: "test", version: "0" });
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  const check = () => (state.fault === undefined ? Promise.resolve() : Promise.reject(state.fault));
  healthRoutes(app, { check, warning: () => state.warning, registry, freshMs: 0 });
  onTestFinished(() => app.close());
  const lines = async () => (await registry.metrics()).split("\n");
  expect(await lines()).toEqual(expect.arrayContaining(["intermission_ready 1", "intermission_ready_warning 0"]));
  state.fault = new Error("away");
  state.warning = "the clock jumped";
  expect(await lines()).toEqual(expect.arrayContaining(["intermission_ready 0", "intermission_ready_warning 1"]));
  state.fault = undefined;
  expect(await lines()).toContain("intermission_ready 1");
});
