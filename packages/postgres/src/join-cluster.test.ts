import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { copyCluster } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { isRunning, serverOf } from "./cluster-process.ts";
import { openDatabase, statement } from "./open-database.ts";
import type { StoreFault } from "./store-faults.ts";

const migrations = { "0001": "create table things (id int)" };
const soon = { timeout: 20_000, interval: 20 };

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cluster-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** One cluster for all tests that leave it stopped and whole: copying a cluster takes longer than starting and stopping it. */
let dataDirectory = "";
beforeAll(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), "cluster-"));
  await copyCluster(dataDirectory);
});
afterEach(() => expect(serverOf(join(dataDirectory, "postgres"))).toBeUndefined());
afterAll(() => rmSync(dataDirectory, { recursive: true, force: true }));

/** Moves the cluster to a folder of this name, by default one whose path is too long for a socket, until the test ends. */
function useFolder(name = "long".repeat(30)): string {
  const folder = join(temporaryFolder(), name);
  mkdirSync(folder, { mode: 0o700 });
  renameSync(join(dataDirectory, "postgres"), join(folder, "postgres"));
  onTestFinished(() => renameSync(join(folder, "postgres"), join(dataDirectory, "postgres")));
  return folder;
}

const pidOf = (dataDirectory: string) => serverOf(join(dataDirectory, "postgres"))?.pid;

const starting: ChildProcess[] = [];

/** A process that opens the store of a folder, as a server does. */
async function startUser(dataDirectory: string, schema: string): Promise<ChildProcess> {
  const program = `
    import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, "open-database.ts"))};
    const [dataDirectory, schema] = process.argv.slice(1);
    const onDeath = ({ message }) => { console.log(message); process.exit(1); };
    const database = await openDatabase({ dataDirectory, schema, migrations: ${JSON.stringify(migrations)}, onDeath });
    process.on("SIGTERM", () => database.close().then(() => process.exit(0)));
    console.log("open");
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program, dataDirectory, schema], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  starting.push(child);
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
  return child;
}

const ended = (child: ChildProcess) =>
  child.exitCode ??
  child.signalCode ??
  new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));

test("a new cluster knows the capitals of all scripts, and sorts as every machine does", async () => {
  const database = await openDatabase({ dataDirectory: useFolder("letters"), schema: "letters", migrations });
  onTestFinished(() => database.close());
  const text = `select lower('ВЕСНА É') as lower, array(select t from unnest('{b,a,B,é}'::text[]) as t order by t) as sorted`;
  expect(await database.run(statement("test.letters", text), [])).toEqual([
    { lower: "весна é", sorted: ["B", "a", "b", "é"] },
  ]);
});

test("users share one server of the cluster, which the last one ends, whoever started it", async () => {
  const first = await startUser(dataDirectory, "one");
  const pid = pidOf(dataDirectory);
  const database = await openDatabase({ dataDirectory, schema: "two", migrations });
  expect(pidOf(dataDirectory)).toBe(pid);
  first.kill("SIGTERM");
  expect(await ended(first)).toBe(0);
  const names = await database.run(
    { name: "", text: "select nspname from pg_namespace where nspname in ('one', 'two')" },
    [],
  );
  expect(names).toHaveLength(2);
  await database.close();
  expect(pid !== undefined && isRunning(pid)).toBe(false);
});

test("a user that closes the store logs no broken connection", async () => {
  const warnings: string[] = [];
  const logger = { info: () => {}, warn: (_facts: object, message: string) => void warnings.push(message) };
  const database = await openDatabase({ dataDirectory, schema: "one", migrations, logger });
  await Promise.all(Array.from({ length: 8 }, () => database.run({ name: "", text: "select pg_sleep(0.01)" }, [])));
  await database.close();
  expect(warnings).toEqual([]);
});

test("users that are killed leave no process, and the next one finds what was written", { tags: "long" }, async () => {
  const users = await Promise.all([startUser(dataDirectory, "one"), startUser(dataDirectory, "two")]);
  const pid = pidOf(dataDirectory) ?? 0;
  const [one, two] = users;
  one.kill("SIGKILL");
  await ended(one);
  // The watching shell would act within milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(isRunning(pid)).toBe(true);
  two.kill("SIGKILL");
  await expect.poll(() => isRunning(pid), soon).toBe(false);
  const database = await openDatabase({ dataDirectory, schema: "one", migrations, isExisting: true });
  expect(await database.run({ name: "", text: "select * from things" }, [])).toEqual([]);
  await database.close();
});

test("a server that nobody uses any more is ended by the next start", async () => {
  const user = await startUser(dataDirectory, "one");
  const pid = pidOf(dataDirectory) ?? 0;
  // Without the watching shell, as if it had been killed, too.
  execFileSync("pkill", ["-KILL", "-f", `sh .*${dataDirectory}/postgres/postmaster.pid`]);
  user.kill("SIGKILL");
  await ended(user);
  expect(isRunning(pid)).toBe(true);
  const database = await openDatabase({ dataDirectory, schema: "one", migrations });
  expect(pidOf(dataDirectory)).not.toBe(pid);
  expect(isRunning(pid)).toBe(false);
  await database.close();
});

test("if the server is killed, its users learn it once, no statement hangs, and the next start works", async () => {
  const other = await startUser(dataDirectory, "two");
  const deaths: StoreFault[] = [];
  const database = await openDatabase({
    dataDirectory,
    schema: "one",
    migrations,
    onDeath: (fault) => deaths.push(fault),
  });
  const sleeping = database.run({ name: "", text: "select pg_sleep(60)" }, []);
  process.kill(pidOf(dataDirectory) ?? 0, "SIGKILL");
  await expect(sleeping).rejects.toThrow();
  expect(await ended(other)).toBe(1);
  await expect.poll(() => deaths.length, soon).toBe(1);
  expect(deaths[0]?.message).toMatch(/the embedded database in .*postgres has failed .*start again/);
  await expect(database.run({ name: "", text: "select 1" }, [])).rejects.toThrow();
  await database.close();
  const again = await openDatabase({ dataDirectory, schema: "one", migrations });
  await again.close();
});

test("if its socket or its folder is removed, users learn it at once, and the next start works or is refused", {
  tags: "long",
}, async () => {
  const folder = useFolder("removed");
  const lose = async (name: string) => {
    const deaths: StoreFault[] = [];
    const database = await openDatabase({
      dataDirectory: folder,
      schema: "one",
      migrations,
      onDeath: (fault) => deaths.push(fault),
    });
    const pid = pidOf(folder) ?? 0;
    renameSync(join(folder, name), `${folder}.gone`);
    await expect.poll(() => deaths[0]?.message ?? "", soon).toMatch(/\/removed\/postgres.* was removed/);
    await database.close();
    return pid;
  };
  await lose("postgres/.s.PGSQL.5432");
  rmSync(`${folder}.gone`);
  const pid = await lose("postgres");
  // Nothing writes on into a folder that the next start does not find.
  await expect.poll(() => isRunning(pid), soon).toBe(false);
  renameSync(`${folder}.gone`, join(folder, "postgres"));
  const database = await openDatabase({ dataDirectory: folder, schema: "one", migrations });
  expect(await database.run({ name: "", text: "select * from things" }, [])).toEqual([]);
  await database.close();
});

test("the cluster listens on a socket for its owner only, on no TCP port, and writes through to the disk", async () => {
  const database = await openDatabase({ dataDirectory, schema: "one", migrations });
  const text = `select name, setting from pg_settings where name in
    ('listen_addresses', 'unix_socket_permissions', 'fsync', 'synchronous_commit', 'full_page_writes') order by name`;
  const settings = await database.run<{ setting: string }>({ name: "", text }, []);
  await database.close();
  expect(settings.map(({ setting }) => setting)).toEqual(["on", "on", "", "on", "0700"]);
  expect(statSync(join(dataDirectory, "postgres")).mode & 0o077).toBe(0);
});

test("a data folder with a long path works: its socket is in a short folder, which is removed", async () => {
  const dataDirectory = useFolder();
  const database = await openDatabase({ dataDirectory, schema: "one", migrations });
  const host = serverOf(join(dataDirectory, "postgres"))?.connection.host ?? "";
  expect(dirname(host)).not.toContain("long");
  expect(statSync(host).mode & 0o077).toBe(0);
  const second = await openDatabase({ dataDirectory, schema: "two", migrations });
  await second.close();
  await database.close();
  expect(existsSync(host)).toBe(false);
});

test("a data folder whose name has commas, quotes and blanks works, whatever is set for clients of other servers", {
  tags: "long",
}, async () => {
  const moved = useFolder(`a, "b" 'c'; %d ё\\n`);
  const ofOthers = {
    PGSSLMODE: "require",
    PGOPTIONS: "-c no.such=1 -c nix=1",
    PGHOST: "db.test",
    PGPORT: "1",
    PGUSER: "me",
  };
  for (const [name, value] of Object.entries(ofOthers)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const database = await openDatabase({ dataDirectory: moved, schema: "one", migrations });
  expect(await database.run({ name: "", text: "select 1 as one" }, [])).toEqual([{ one: 1 }]);
  await database.close();
});

test("another user's folder for the socket is refused", { tags: "long" }, async () => {
  const dataDirectory = useFolder();
  const database = await openDatabase({ dataDirectory, schema: "one", migrations });
  const host = serverOf(join(dataDirectory, "postgres"))?.connection.host ?? "";
  execFileSync("chmod", ["755", host]);
  await expect(openDatabase({ dataDirectory, schema: "two", migrations })).rejects.toThrow(/open to others/);
  await database.close();
});

test("the store of an earlier version is refused, with what to do, and stays as it is", async () => {
  const dataDirectory = temporaryFolder();
  mkdirSync(join(dataDirectory, "ad-service/postgres"), { recursive: true });
  writeFileSync(join(dataDirectory, "ad-service/postgres/PG_VERSION"), "17\n");
  await expect(openDatabase({ dataDirectory, schema: "one", migrations })).rejects.toThrow(
    /ad-service\/postgres is the embedded store of an earlier version \(PGlite\).*to keep its data/,
  );
  expect(existsSync(join(dataDirectory, "postgres"))).toBe(false);
});

test("the rest of a store that was lost is refused, other files are not, and an unfinished store is made again", {
  tags: "long",
}, async () => {
  const [rest, unfinished] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(rest, "ad-service/media"), { recursive: true });
  for (const name of ["owner.lock", "media/1.mp4"]) writeFileSync(join(rest, "ad-service", name), "");
  await expect(openDatabase({ dataDirectory: rest, schema: "one", migrations })).rejects.toThrow(
    /holds ad-service\/media but no store .*restore it from a backup/,
  );
  writeFileSync(join(unfinished, "bot.env"), "");
  mkdirSync(join(unfinished, "postgres.new-a1/base"), { recursive: true });
  await (await openDatabase({ dataDirectory: unfinished, schema: "one", migrations })).close();
  expect(existsSync(join(unfinished, "postgres.new-a1"))).toBe(false);
});

test("after a kill while the store is made, the next start makes it, though the killed one's initdb still runs", {
  tags: "long",
}, async () => {
  const folder = temporaryFolder();
  const halfMade = () => readdirSync(folder).filter((name) => name.startsWith("postgres.new-"));
  const killed = startUser(folder, "one").catch(() => {});
  await expect.poll(halfMade, { timeout: 30_000, interval: 5 }).toHaveLength(1);
  process.kill(starting.at(-1)?.pid ?? 0, "SIGKILL");
  await killed;
  await (await openDatabase({ dataDirectory: folder, schema: "one", migrations })).close();
});

test("a disk that is full while tables are made, at the start or later, is named", { tags: "long" }, async () => {
  const fail = `do $$ begin raise exception 'could not create file "base/5/1": No space left on device' using errcode = '53100'; end $$`;
  const named = /^the disk of .* is full \(could not create file .*free some space, or remove files where `df -i`/;
  const atStart = openDatabase({ dataDirectory, schema: "crowded", migrations: { "0001-fail": fail } });
  await expect(atStart).rejects.toThrow(named);
  const database = await openDatabase({ dataDirectory, schema: "one", migrations });
  await expect(database.withoutTimeout((client) => client.query(fail))).rejects.toThrow(named);
  await database.close();
});

test("a command line makes no store", async () => {
  const nowhere = join(temporaryFolder(), "nowhere");
  await expect(openDatabase({ dataDirectory: nowhere, schema: "one", migrations, isExisting: true })).rejects.toThrow(
    /holds no store: start the server/,
  );
  expect(existsSync(nowhere)).toBe(false);
});
