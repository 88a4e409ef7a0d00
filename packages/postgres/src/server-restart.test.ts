// @module-tag long
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startTemporaryCluster } from "@intermission/testing/temporary-cluster";
import { expect, test } from "vitest";
import { openDatabase, statement } from "./open-database.ts";

const insert = statement("insert", "insert into things (id) values ($1)");
const count = statement<{ rows: number }>("count", "select count(*)::int as rows from things");

// An 'error' event without a listener would end this process and the test run.
test("a crash of the database server only fails requests under way: no acknowledged row, later request or notice is lost", async () => {
  const cluster = await startTemporaryCluster();
  const dataDirectory = mkdtempSync(join(tmpdir(), "restart-"));
  const migrations = { "0001": "create table things (id int primary key)" };
  const database = await openDatabase({ databaseUrl: cluster.url, dataDirectory, schema: "shop", migrations });
  try {
    const heard: string[] = [];
    await database.listen("bell", (payload) => heard.push(payload));
    let answered = 0;
    let isOver = false;
    const writers = Array.from({ length: 5 }, async (_, writer) => {
      for (let id = writer; !isOver; id += 5) {
        const isStored = await database.run(insert, [id]).then(
          () => true,
          () => wait(50, false),
        );
        if (isStored) answered += 1;
      }
    });
    const [begun, restarted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = database.transaction(async (tx) => {
      await tx.run(count, []);
      begun.resolve();
      await restarted.promise;
      await tx.run(count, []);
    });
    const heldOutcome = expect(held).rejects.toThrow();
    await begun.promise;
    await expect.poll(() => answered).toBeGreaterThan(0);
    const before = answered;
    await cluster.restart();
    restarted.resolve();
    await heldOutcome;
    await expect.poll(() => answered).toBeGreaterThan(before + 10);
    isOver = true;
    await Promise.all(writers);
    const [stored] = await database.run(count, []);
    expect(stored?.rows).toBeGreaterThanOrEqual(answered);
    await expect
      .poll(
        async () => {
          await database.notify("bell", "after");
          return heard.at(-1);
        },
        { timeout: 10_000 },
      )
      .toBe("after");
  } finally {
    await database.close();
    await cluster.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}, 60_000);
