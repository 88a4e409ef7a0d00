// @module-tag long
import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findDebianPrograms } from "@intermission/testing/temporary-cluster";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { chooseAccount, commandOf } from "./cluster-account.ts";
import { majorOfCluster, majorOfPrograms } from "./cluster-major.ts";
import { startServer, stopServer } from "./cluster-process.ts";
import { migrate } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";
import { postgresPrograms } from "./postgres-programs.ts";
import { upgradeCluster } from "./upgrade-cluster.ts";

const debian = findDebianPrograms();
const isOther = debian !== undefined && majorOfPrograms(debian) !== majorOfPrograms(postgresPrograms());
if (!isOther) console.log("!!! No store of another PostgreSQL was moved. Enable it: apt-get install postgresql");

const first = {
  "0001-first": "create table things (id bigint generated always as identity primary key, name text not null)",
};
const second = { ...first, "0002-second": "alter table things add column size int not null default 3" };

/** A data folder whose cluster another major version made, with the schemas `one` and `two`. */
async function olderStore(programs: string): Promise<string> {
  const dataDirectory = mkdtempSync("/tmp/intermission-upgrade-");
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const folder = join(dataDirectory, "postgres");
  const account = chooseAccount({ folder, dataDirectory, programs });
  if (account.kind === "other-user") chownSync(dataDirectory, account.uid, account.gid);
  const words = ["-D", folder, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  const initdb = commandOf(account, join(programs, "initdb"), words);
  execFileSync(initdb.program, initdb.words, { ...initdb.options, stdio: "ignore" });
  const server = await startServer({ folder, programs, account, buffersMegabytes: 16 });
  const client = new pg.Client(server.connection);
  await client.connect();
  for (const schema of ["one", "two"]) {
    await client.query(`set search_path to ${schema}`);
    await migrate(client, schema, first);
    await client.query(
      `insert into ${schema}.things (name) select '${schema} ' || n from generate_series(1, 500) as n`,
    );
  }
  await client.end();
  await stopServer(folder, server);
  server.stopCounting();
  return dataDirectory;
}

test.skipIf(!isOther)(
  "a store of another PostgreSQL is refused by its version, moved by each server, and none of its rows is lost",
  async () => {
    const programs = debian ?? "";
    const [from, to] = [majorOfPrograms(programs), majorOfPrograms(postgresPrograms())];
    const dataDirectory = await olderStore(programs);
    const open = (schema: string) => openDatabase({ dataDirectory, schema, migrations: second });
    const upgrade = (schema: string, onProgress = () => {}) =>
      upgradeCluster({ dataDirectory, oldPrograms: programs, schema, migrations: second, onProgress });
    const refusal = `is of PostgreSQL ${from}, and this version has the programs of PostgreSQL ${to}; nothing was changed.`;
    const before = readdirSync(join(dataDirectory, "postgres")).sort();
    await expect(open("one")).rejects.toThrow(refusal);
    expect(readdirSync(join(dataDirectory, "postgres")).sort()).toEqual(before);

    const interrupt = () => {
      throw new Error("interrupted");
    };
    await expect(upgrade("one", interrupt)).rejects.toThrow("interrupted");
    await expect(open("one")).rejects.toThrow(refusal);
    const kept = join(dataDirectory, `postgres-${from}`);
    expect(await upgrade("one")).toEqual({ outcome: "moved", from, to, left: ["two"], kept });
    // The rows of the other server are not moved yet: an empty store must not take their place.
    await expect(open("two")).rejects.toThrow(refusal);
    expect(await upgrade("one")).toMatchObject({ left: ["two"] });
    expect(await upgrade("two")).toMatchObject({ left: [] });

    for (const schema of ["one", "two"]) {
      const database = await open(schema);
      const text =
        "select count(*)::int as rows, min(name) as first, max(size) as size, max(id)::int as last from things";
      const [found] = await database.run({ name: "", text }, []);
      expect(found).toEqual({ rows: 500, first: `${schema} 1`, size: 3, last: 500 });
      const insert = "insert into things (name) values ('new') returning id::int as id";
      expect(await database.run({ name: "", text: insert }, [])).toEqual([{ id: 501 }]);
      await database.close();
    }
    expect([majorOfCluster(join(dataDirectory, "postgres")), majorOfCluster(kept)]).toEqual([to, from]);
    expect(await upgrade("one")).toEqual({ outcome: "current", major: to });
    expect(readdirSync(dataDirectory).filter((name) => name.includes("upgrading"))).toEqual([]);
    expect(readFileSync(join(kept, "PG_VERSION"), "utf8").trim()).toBe(String(from));
  },
  120_000,
);

test.skipIf(!isOther)("without the programs of the store's version the command names how to get them", async () => {
  const dataDirectory = await olderStore(debian ?? "");
  const options = { dataDirectory, schema: "one", migrations: first, onProgress: () => {} };
  const nowhere = upgradeCluster({ ...options, oldPrograms: "/nowhere" });
  await expect(nowhere).rejects.toThrow(
    /the programs of PostgreSQL \d+ are needed .*apt-get install postgresql-\d+.*--programs/,
  );
  const wrong = upgradeCluster({ ...options, oldPrograms: postgresPrograms() });
  await expect(wrong).rejects.toThrow(/has the programs of PostgreSQL \d+, and the store is of PostgreSQL \d+/);
});
