import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTemporaryCluster } from "@intermission/testing/temporary-cluster";
import { expect, test } from "vitest";
import { openDatabase, statement } from "./open-database.ts";
import { isStoreOutage, unavailabilityOf } from "./store-faults.ts";

const one = statement<{ one: number }>("test.one", "select 1 as one");
const slow = statement<never>("test.slow", "select pg_sleep(0.6)");

test("a frozen database fails what is under way and what comes next, works again when it answers, and a slow one does not", {
  tags: "long",
}, async () => {
  const cluster = await startTemporaryCluster({ fsync: false });
  const dataDirectory = mkdtempSync(join(tmpdir(), "silent-"));
  const logged: string[] = [];
  const log = (_facts: object, message: string) => void logged.push(message);
  const database = await openDatabase({
    databaseUrl: cluster.url,
    dataDirectory,
    schema: "shop",
    migrations: {},
    limits: { silentMs: 400 },
    logger: { info: log, warn: log },
  });
  let thaw = () => {};
  try {
    const faultOf = async (work: Promise<unknown>) => {
      const startedAt = performance.now();
      const error = await work.then(
        () => undefined,
        (error: unknown) => error,
      );
      return { error, tookMs: performance.now() - startedAt };
    };
    expect((await faultOf(database.run(slow, []))).error).toBeUndefined();
    expect(logged).toEqual([]);

    const frozen = Promise.withResolvers<void>();
    const inTransaction = faultOf(
      database.transaction(async (tx) => {
        await tx.run(one, []);
        thaw = cluster.freeze();
        frozen.resolve();
        await tx.run(one, []);
      }),
    );
    // On a busy machine these would be over before the first statement of the transaction is.
    await frozen.promise;
    const others = [database.run(one, []), database.run(slow, [])].map(faultOf);
    const underWay = await Promise.all([inTransaction, ...others]);
    const next = await Promise.all([database.run(one, []), database.transaction((tx) => tx.run(one, []))].map(faultOf));
    for (const { error, tookMs } of [...underWay, ...next]) {
      expect([unavailabilityOf(error), isStoreOutage(error)]).toEqual(["out-of-reach", true]);
      // Without the watch they would end with the statement's timeout, after 30 s. A busy machine takes its time.
      expect(tookMs).toBeLessThan(10_000);
    }
    for (const { error } of next) {
      expect(error).toMatchObject({ name: "DatabaseSilent", message: "the database has not answered for 0.4 s" });
    }
    thaw();
    await expect.poll(() => database.run(one, []).catch(() => []), { timeout: 20_000 }).toEqual([{ one: 1 }]);
    expect(logged.filter((message) => /does not answer|answers again/.test(message))).toEqual([
      "the database does not answer: until it does, requests are refused at once",
      "the database answers again",
    ]);
  } finally {
    // A frozen server never ends.
    thaw();
    await database.close();
    await cluster.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
