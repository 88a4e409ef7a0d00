import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Database, type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import { askServer, startDumpableCluster } from "@intermission/testing/copy-database";
import { findDebianPrograms } from "@intermission/testing/temporary-cluster";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { makeUpcomingPartitions } from "../src/retention/keep-partitions.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";
import { openDeliveryFixture } from "./fixtures/delivery-fixture.ts";

/** The recipes of docs/operate.md, run as they stand there. */

const page = readFileSync(join(import.meta.dirname, "../../../docs/operate.md"), "utf8");

/** The blocks of a language in a section, without the indentation of their list. */
function blocksOf(title: string, language: string): string[] {
  const section = page.slice(page.indexOf(`\n${title}\n`) + 1).split(/\n##+ /)[0] ?? "";
  const blocks = section.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, "gms"));
  return [...blocks].map(([, indent = "", block = ""]) => block.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "documented-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(databaseUrl: string): Promise<OpenedDatabase> {
  return openDatabase({ databaseUrl, dataDirectory: temporaryFolder(), schema: "ad_service", migrations });
}

/** The ids of the feed after a cursor, once there are so many. */
async function readFeed(database: Database, token: string, { after, count }: { after?: string; count: number }) {
  const fixture = await openAppFixture(database);
  try {
    const headers = { authorization: `Bearer ${token}` };
    const query = after === undefined ? "" : `?after=${after}`;
    const ask = async (): Promise<{ events: { event_id: string }[]; next: string }> =>
      JSON.parse(await (await fetch(`${fixture.address}/client/v1/events${query}`, { headers })).text());
    await expect.poll(async () => (await ask()).events.length, { timeout: 30_000 }).toBe(count);
    const { events, next } = await ask();
    return { ids: events.map(({ event_id: id }) => id), next };
  } finally {
    await fixture.close();
  }
}

const programs = findDebianPrograms();
if (programs === undefined)
  console.log("!!! The recipes of backups were not followed: PostgreSQL of Debian is missing");

test.skipIf(programs === undefined)(
  "the documented dump is restored to the letter, and the feed goes on after it",
  {
    tags: "long",
    timeout: 180_000,
  },
  async () => {
    const cluster = await startDumpableCluster();
    onTestFinished(cluster.stop);
    const [source, target] = [await createServerDatabase(cluster.url), await createServerDatabase(cluster.url)];
    const before = await open(source.url);
    await makeUpcomingPartitions(before, new Date());
    const { token, enqueue } = await openDeliveryFixture(before, {});
    const [first = ""] = await enqueue(1);
    const { next } = await readFeed(before, token, { count: 1 });
    const [unread = ""] = await enqueue(1);
    const [dump = "", restore = ""] = blocksOf("## Back up and restore", "sh");
    const env = { PATH: `${programs}:${process.env.PATH}`, DATABASE_URL: source.url, NEW_DATABASE_URL: target.url };
    const cwd = temporaryFolder();
    for (const command of [dump, restore])
      execFileSync("sh", ["-ec", command], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
    await before.close();
    const after = await open(target.url);
    onTestFinished(() => after.close());
    expect((await readFeed(after, token, { after: next, count: 1 })).ids).toEqual([unread]);
    expect((await readFeed(after, token, { count: 2 })).ids).toEqual([first, unread]);
  },
);

const hasBackRest = programs !== undefined && existsSync("/usr/bin/pgbackrest");
if (!hasBackRest) console.log("!!! The recipe of pgBackRest was not followed: the package pgbackrest is missing");

test.skipIf(!hasBackRest)(
  "pgBackRest restores by its documented commands what was written after the backup, too",
  {
    tags: "long",
    timeout: 240_000,
  },
  async () => {
    const cluster = await startDumpableCluster();
    onTestFinished(cluster.stop);
    const [facts] = await askServer(
      cluster.url,
      "select current_setting('data_directory') as data, current_setting('unix_socket_directories') as socket, current_setting('port') as port",
    );
    const { data, socket, port } = facts as { data: string; socket: string; port: string };
    const { uid, gid } = statSync(data);
    const folder = temporaryFolder();
    const repository = join(folder, "repository");
    for (const path of [folder, repository]) {
      mkdirSync(path, { recursive: true });
      chownSync(path, uid, gid);
    }
    const [config = ""] = blocksOf("### pgBackRest", "text");
    // Paths of this test, which the recipe leaves at their defaults.
    const ofTest = config
      .replace("[global]", `[global]\nlog-path=${folder}\nlock-path=${folder}`)
      .replace("/var/lib/pgbackrest", repository)
      .replace("/var/lib/postgresql/15/main", data);
    const configPath = join(folder, "pgbackrest.conf");
    writeFileSync(configPath, `${ofTest}pg1-socket-path=${socket}\npg1-port=${port}\npg1-user=postgres\n`);
    const inTest = (block: string) =>
      block
        .replaceAll(/^sudo systemctl .*$/gm, "")
        .replaceAll("sudo -u postgres ", "")
        .replaceAll("pgbackrest ", `pgbackrest --config=${configPath} `);
    const env = { PATH: `${programs}:${process.env.PATH}`, PGHOST: socket, PGPORT: port, PGUSER: "postgres" };
    const run = (block: string) => {
      const ended = spawnSync("sh", ["-ec", inTest(block)], { cwd: "/", env, uid, gid, encoding: "utf8" });
      expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0);
    };

    const [archive = "", backUp = "", restore = ""] = blocksOf("### pgBackRest", "sh");
    run(archive);
    await cluster.restart();
    const before = await open(cluster.url);
    await makeUpcomingPartitions(before, new Date());
    const { token, enqueue } = await openDeliveryFixture(before, {});
    const [first = ""] = await enqueue(1);
    const { next } = await readFeed(before, token, { count: 1 });
    run(backUp);
    const [unread = ""] = await enqueue(1);
    await before.close();
    await askServer(cluster.url, "select pg_switch_wal()");
    const archived = async () =>
      (
        await askServer(
          cluster.url,
          "select last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) as is_done from pg_stat_archiver",
        )
      )[0]?.is_done;
    await expect.poll(archived, { timeout: 60_000 }).toBe(true);

    await cluster.crash();
    rmSync(join(data, "base"), { recursive: true });
    run(restore);
    await cluster.restart();
    // A server that starts meanwhile says so, and its supervisor starts it again.
    const isOpen = () =>
      open(cluster.url).then(
        (database) => database,
        (error: Error) => error.message,
      );
    let after = await isOpen();
    for (let tries = 0; typeof after === "string" && tries < 60; tries++) {
      expect(after).toMatch(/still recovers, or is a standby|does not answer|accepts no connections/);
      await wait(500);
      after = await isOpen();
    }
    if (typeof after === "string") throw new Error(after);
    const restored = after;
    onTestFinished(() => restored.close());
    expect((await readFeed(after, token, { after: next, count: 1 })).ids).toEqual([unread]);
    expect((await readFeed(after, token, { count: 2 })).ids).toEqual([first, unread]);
  },
);
