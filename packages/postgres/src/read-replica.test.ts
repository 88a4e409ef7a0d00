import { askServer, startDumpableCluster, startReplica } from "@intermission/testing/copy-database";
import { findDebianPrograms, type TemporaryCluster } from "@intermission/testing/temporary-cluster";
import { expect, onTestFinished, test } from "vitest";
import { followDatabaseClock } from "./database-clock.ts";
import { openDatabase, statement } from "./open-database.ts";
import { judgeReplica, openReadReplica } from "./read-replica.ts";

const primary = { epochIds: ["first", "second"], startedAt: "100" };
const standby = { isStandby: true, replayedAtMs: 1_000_000, epochId: "second", startedAt: "200" };
const at = (nowMs: number) => ({ primary, nowMs, maxLagSeconds: 300 });

test("a standby is read while its newest transaction is young enough, and its lag is told", () => {
  expect(judgeReplica(standby, at(1_004_000))).toEqual({ state: "following", lagSeconds: 4 });
  expect(judgeReplica(standby, at(1_300_000))).toEqual({ state: "following", lagSeconds: 300 });
  expect(judgeReplica(standby, at(1_300_001))).toEqual({ state: "behind", lagSeconds: 300.001 });
  // Its clock is that of the primary, which may have been set back.
  expect(judgeReplica(standby, at(0))).toEqual({ state: "following", lagSeconds: 0 });
  expect(judgeReplica({ ...standby, replayedAtMs: null }, at(0))).toEqual({ state: "behind", lagSeconds: null });
});

test("the primary itself is read, a promoted standby and another store are not", () => {
  const promoted = { ...standby, isStandby: false, replayedAtMs: null };
  expect(judgeReplica({ ...promoted, startedAt: "100" }, at(0))).toEqual({ state: "following", lagSeconds: 0 });
  expect(judgeReplica(promoted, at(0))).toMatchObject({ state: "away", reason: expect.stringMatching(/was promoted/) });
  for (const epochId of ["another", null])
    expect(judgeReplica({ ...standby, epochId }, at(0))).toMatchObject({
      state: "away",
      reason: expect.stringMatching(/no replica of the server of DATABASE_URL/),
    });
});

const insert = statement<never>("test.insert-item", "insert into items values ($1)");
const list = statement<{ item: number }>("test.list-items", "select item from items order by item");
const migrations = { "0001-items": "create table items (item integer primary key)" };

async function openPair() {
  const cluster = await startDumpableCluster();
  onTestFinished(cluster.stop);
  const database = await openDatabase({ databaseUrl: cluster.url, dataDirectory: "", schema: "shop", migrations });
  onTestFinished(() => database.close());
  const follower = await startReplica(cluster);
  onTestFinished(follower.stop);
  const clock = await followDatabaseClock(database);
  onTestFinished(() => clock.stop());
  const logged: string[] = [];
  const log = (_facts: object, message: string) => void logged.push(message);
  const open = (at: TemporaryCluster) => {
    const replica = openReadReplica({
      databaseUrl: at.url,
      schema: "shop",
      primary: database,
      poolSize: 3,
      limits: { connectMs: 5000, silentMs: 1000, statementMs: 10_000 },
      logger: { info: log, warn: log },
      now: clock.now,
      maxLagSeconds: 3,
    });
    onTestFinished(() => replica.stop());
    const items = async () => {
      const reading = await replica.read((snapshot) => snapshot.run(list, []));
      return reading.outcome === "read" ? reading.value.map(({ item }) => item) : reading.state.state;
    };
    return { replica, items };
  };
  return { cluster, follower, database, logged, open };
}

const needsDebian = { tags: "long", timeout: 180_000 };
const isHere = findDebianPrograms() !== undefined;
if (!isHere)
  console.log("!!! No replica was read: PostgreSQL of Debian is missing. Enable it: apt-get install postgresql");

test.skipIf(!isHere)(
  "a replica is read while it follows, not while its replay is paused, it is frozen, stopped or promoted",
  needsDebian,
  async () => {
    const { follower, database, logged, open } = await openPair();
    const { replica, items } = open(follower);
    await database.run(insert, [1]);
    await expect.poll(items, { timeout: 30_000 }).toEqual([1]);

    await askServer(follower.url, "select pg_wal_replay_pause()");
    await database.run(insert, [2]);
    // Its rows are old, and it says how old.
    expect([[1], "behind"]).toContainEqual(await items());
    await expect.poll(items, { timeout: 30_000 }).toBe("behind");
    expect(replica.state()).toMatchObject({ state: "behind", lagSeconds: expect.any(Number) });
    expect(logged.at(-1)).toMatch(/is \d+ s behind: reports are read from the primary, two at a time/);
    await askServer(follower.url, "select pg_wal_replay_resume()");
    // A write every few seconds, as those of the servers, keeps the replica young.
    let next = 3;
    const writeAndList = async () => {
      await database.run(insert, [next++]);
      return items();
    };
    await expect.poll(writeAndList, { timeout: 30_000 }).toContain(2);
    expect(logged.at(-1)).toMatch(/reports are read there again$/);

    const thaw = follower.freeze();
    await expect.poll(() => replica.state().state, { timeout: 30_000 }).toBe("away");
    const startedAt = performance.now();
    expect(await items()).toBe("away");
    expect(performance.now() - startedAt).toBeLessThan(900);
    thaw();
    await expect.poll(writeAndList, { timeout: 30_000 }).toContain(2);

    await follower.crash();
    expect(await items()).toBe("away");
    await follower.restart();
    await expect.poll(writeAndList, { timeout: 30_000 }).toContain(2);

    await askServer(follower.url, "select pg_promote()");
    await expect.poll(items, { timeout: 30_000 }).toBe("away");
    expect(replica.state()).toMatchObject({ reason: expect.stringMatching(/was promoted/) });
  },
);

test.skipIf(!isHere)(
  "all reads of one report are of one moment, and another store is not read",
  needsDebian,
  async () => {
    const { cluster, follower, database, open } = await openPair();
    const { replica, items } = open(follower);
    await database.run(insert, [1]);
    await expect.poll(items, { timeout: 30_000 }).toEqual([1]);
    const reading = await replica.read(async (snapshot) => {
      const [before, same] = await Promise.all([snapshot.run(list, []), snapshot.run(list, [])]);
      await database.run(insert, [2]);
      const replayed = async () => (await askServer(follower.url, "select count(*)::int as n from shop.items"))[0]?.n;
      await expect.poll(replayed, { timeout: 30_000 }).toBe(2);
      return [before.length, same.length, (await snapshot.run(list, [])).length];
    });
    expect(reading).toEqual({ outcome: "read", value: [1, 1, 1] });

    const elsewhere = await startDumpableCluster();
    onTestFinished(elsewhere.stop);
    const other = await openDatabase({ databaseUrl: elsewhere.url, dataDirectory: "", schema: "shop", migrations });
    onTestFinished(() => other.close());
    const foreign = open(elsewhere);
    expect(await foreign.items()).toBe("away");
    expect(foreign.replica.state()).toMatchObject({ reason: expect.stringMatching(/no replica/) });
    // The primary has no lag.
    expect(await open(cluster).items()).toEqual([1, 2]);
  },
);
