import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "@intermission/testing/free-port";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { openDatabase, statement } from "./open-database.ts";

const migrations = { "0001": "create table things (id int primary key)" };
const insert = statement<{ id: number }>("pooled-insert", "insert into things (id) values ($1) returning id");

const program = ["pgbouncer", "/usr/sbin/pgbouncer"].find((name) => spawnSync(name, ["--version"]).status === 0);

/** A PgBouncer in front of a new database. It refuses to run as root. */
async function startPooler(settings: readonly string[], context: TestContext): Promise<string> {
  if (program === undefined) return context.skip("PgBouncer is not installed: apt-get install pgbouncer");
  const database = await createServerDatabase();
  onTestFinished(database.drop);
  const { hostname, port: serverPort, pathname, username } = new URL(database.url);
  // Its user must reach this folder, and often cannot pass the one of TMPDIR.
  const folder = mkdtempSync("/tmp/pooler-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const lines = [
    "[databases]",
    `${pathname.slice(1)} = host=${hostname} port=${serverPort} user=${username}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "ignore_startup_parameters = extra_float_digits",
    ...settings,
  ];
  writeFileSync(join(folder, "pgbouncer.ini"), lines.join("\n"));
  const asOther = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const pooler = spawn(program, [join(folder, "pgbouncer.ini")], { ...asOther, cwd: "/", stdio: "ignore" });
  onTestFinished(() => stop(pooler));
  await expect.poll(() => isOpen(port)).toBe(true);
  return `postgres://${username}@127.0.0.1:${port}${pathname}`;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

test.for([
  ["the connection that was used last", ["server_round_robin = 0"]],
  ["each connection in turn", ["server_round_robin = 1"]],
  ["a single connection", ["default_pool_size = 1"]],
] as const)("a pooler without sessions is refused at the start, with what to do: %s", async ([, settings], context) => {
  const databaseUrl = await startPooler(["pool_mode = transaction", ...settings], context);
  await expect(openDatabase({ databaseUrl, dataDirectory: "", schema: "shop", migrations })).rejects.toThrow(
    /DATABASE_URL \(127\.0\.0\.1.*is a pooler that does not keep sessions.*pool_mode = session/,
  );
});

test.for([
  ["has no such database", [], "?", /refuses the connection: bouncer config error; correct the address/],
  [
    "takes no parameters",
    [],
    "?options=-c%20jit%3Doff",
    /refuses the connection: unsupported startup parameter: options/,
  ],
  ["has no connection left for clients", ["max_client_conn = 1"], "", /refuses the connection: no more connections/],
] as const)("a pooler that %s is named with its words", async ([what, settings, search, words], context) => {
  const url = new URL(`${await startPooler(["pool_mode = session", ...settings], context)}${search}`);
  if (what === "has no such database") url.pathname = "/nowhere";
  await expect(openDatabase({ databaseUrl: url.href, dataDirectory: "", schema: "shop", migrations })).rejects.toThrow(
    words,
  );
});

test("a pooler with a single connection to the server is named as silent, with the reason", {
  tags: "long",
}, async (context) => {
  const databaseUrl = await startPooler(["pool_mode = session", "default_pool_size = 1"], context);
  await expect(openDatabase({ databaseUrl, dataDirectory: "", schema: "shop", migrations })).rejects.toThrow(
    /does not answer .*a pooler needs a connection to it for each of ours/,
  );
});

test("a pooler in session mode works", async (context) => {
  const databaseUrl = await startPooler(["pool_mode = session"], context);
  const database = await openDatabase({ databaseUrl, dataDirectory: "", schema: "shop", migrations });
  const ids = Array.from({ length: 50 }, (_, id) => id);
  const rows = await Promise.all(ids.map((id) => database.run(insert, [id])));
  expect(rows.map(([row]) => row?.id)).toEqual(ids);
  await database.close();
});
