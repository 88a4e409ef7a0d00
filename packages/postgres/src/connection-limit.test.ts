import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type ConnectionFacts, connectionWarning } from "./connection-limit.ts";
import { openDatabase, statement } from "./open-database.ts";

const roomy: ConnectionFacts = {
  maxConnections: 100,
  reserved: 3,
  ofDatabase: -1,
  ofRole: -1,
  used: { all: 20, ofDatabase: 10, ofRole: 10 },
};

test.each([
  ["many connections are free", {}, undefined],
  ["exactly as many are free", { used: { ...roomy.used, all: 86 } }, undefined],
  ["others use most", { used: { ...roomy.used, all: 87 } }, /11 connections .* and 10 are free: max_connections 100/],
  ["the server allows fewer than a pool", { maxConnections: 10 }, /and 0 are free: max_connections 10 /],
  ["the database allows few", { ofDatabase: 15 }, /and 5 are free: the connection limit 15 of the database\./],
  ["the user may open few", { ofRole: 12 }, /and 2 are free: the connection limit 12 of the database's user/],
])("a pool of 10 is compared with the limits: %s", (_name, changes, warning) => {
  const found = connectionWarning({ ...roomy, ...changes }, { poolSize: 10 });
  if (warning === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(warning);
});

test("a start warns in one line if the pool does not fit the server, and the timeouts are those of the settings", async () => {
  const server = await createServerDatabase();
  onTestFinished(server.drop);
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`alter database ${new URL(server.url).pathname.slice(1)} connection limit 4`);
  const lines: string[] = [];
  const logger = { info: () => {}, warn: (_facts: object, message: string) => void lines.push(message) };
  const database = await openDatabase({
    databaseUrl: server.url,
    dataDirectory: "",
    schema: "shop",
    migrations: {},
    logger,
    poolSize: 5,
    limits: { connectMs: 5000, statementMs: 7000 },
  });
  const timeout = statement<{ timeout: string }>(
    "read-timeout",
    "select current_setting('statement_timeout') as timeout",
  );
  expect(await database.run(timeout, [])).toEqual([{ timeout: "7s" }]);
  await database.close();
  await admin.end();
  expect(lines).toEqual([
    expect.stringMatching(/6 connections \(DATABASE_POOL_SIZE 5.* 3 are free: the connection limit 4/),
  ]);
});
