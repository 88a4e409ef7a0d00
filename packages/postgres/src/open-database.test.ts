import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyCluster, openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase, statement } from "./open-database.ts";

const migrations = {
  "0001-things":
    "create table things (id int primary key, amount int8 not null default 5, made_at timestamptz default now())",
};
const insert = statement<{ id: number }>(
  "insert-things",
  "insert into things (id) select unnest($1::int[]) returning id",
);
const select = statement<{ id: number; amount: number; made_at: Date }>(
  "select-things",
  "select * from things where id = any($1) order by id",
);
const preparedNames = statement<{ name: string }>("prepared-names", "select name from pg_prepared_statements");

describe("an open database", () => {
  let opened: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    opened = await openTestDatabase({ schema: "shop", migrations });
    database = opened.database;
  });
  afterAll(() => opened.dispose());

  test("statements are prepared by name, and stay prepared after an error", async () => {
    await database.run(insert, [[1]]);
    await expect(database.run(insert, [[1]])).rejects.toMatchObject({ code: "23505" });
    await database.run(insert, [[2]]);
    const names = await database.run(preparedNames, []);
    expect(names.map(({ name }) => name)).toContain("insert-things");
  });

  test("int8 is read as a number and timestamptz as a Date, and tables are in the schema", async () => {
    await database.run(insert, [[100]]);
    const [thing] = await database.run(select, [[100]]);
    expect(thing).toEqual({ id: 100, amount: 5, made_at: expect.any(Date) });
    const [place] = await database.run(
      statement<{ place: string; zone: string }>(
        "place",
        "select 'things'::regclass::text as place, current_setting('timezone') as zone, current_schema() as schema",
      ),
      [],
    );
    expect(place).toMatchObject({ place: "things", zone: "UTC", schema: "shop" });
  });

  test("an int8 that JavaScript cannot represent throws instead of being rounded", async () => {
    const huge = statement<{ huge: number }>("huge", "select 9007199254740993::int8 as huge");
    await expect(database.run(huge, [])).rejects.toThrow("9007199254740993");
  });

  test("a transaction commits completely or not at all, and named and unnamed statements share it", async () => {
    const failed = database.transaction(async (tx) => {
      await tx.run(insert, [[10]]);
      await tx.run({ name: "", text: "insert into things (id) values ($1)" }, [11]);
      throw new Error("changed our mind");
    });
    await expect(failed).rejects.toThrow("changed our mind");
    expect(await database.run(select, [[10, 11]])).toEqual([]);
    await database.transaction((tx) => tx.run(insert, [[10]]));
    expect(await database.run(select, [[10]])).toMatchObject([{ id: 10 }]);
  });

  test("a transaction that continues after a failed statement commits nothing and rejects", async () => {
    const swallowed = database.transaction(async (tx) => {
      await tx.run(insert, [[20]]);
      await tx.run(insert, [[20]]).catch(() => {});
    });
    await expect(swallowed).rejects.toThrow("nothing was committed");
    expect(await database.run(select, [[20]])).toEqual([]);
  });

  test("a statement after the end of its transaction is refused", async () => {
    const ended = await database.transaction(async (tx) => tx);
    await expect(ended.run(insert, [[21]])).rejects.toThrow("after the end of its transaction");
  });

  test("transactions that lock rows in opposite order both commit", async () => {
    await database.run(insert, [[30, 31]]);
    const add = statement("add-one", "update things set amount = amount + 1 where id = $1");
    const both = [
      [30, 31],
      [31, 30],
    ].map((ids) =>
      database.transaction(async (tx) => {
        for (const id of ids) {
          await tx.run(add, [id]);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }),
    );
    await Promise.all(both);
    const rows = await database.run(select, [[30, 31]]);
    expect(rows).toMatchObject([{ amount: 7 }, { amount: 7 }]);
  });

  test("64 concurrent transactions all commit", async () => {
    const ids = Array.from({ length: 64 }, (_, index) => 1000 + index);
    await Promise.all(ids.map((id) => database.transaction((tx) => tx.run(insert, [[id]]))));
    const rows = await database.run(select, [ids]);
    expect(rows).toHaveLength(64);
  });

  test("notices reach a listener until it stops", async () => {
    const heard: string[] = [];
    const stop = await database.listen("bell", (payload) => heard.push(payload));
    await database.notify("bell", "one");
    await expect.poll(() => heard).toEqual(["one"]);
    await stop();
    await database.notify("bell", "two");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toEqual(["one"]);
  });
});

test("a killed process loses no committed row of the embedded store", { tags: "long", timeout: 60_000 }, async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), "kill-"));
  const writer = `
    import { openDatabase, statement } from ${JSON.stringify(join(import.meta.dirname, "open-database.ts"))};
    const database = await openDatabase({ dataDirectory: process.argv[1], schema: "shop", migrations: ${JSON.stringify(migrations)} });
    const insert = statement("insert", "insert into things (id) values ($1)");
    for (let id = 1; ; id++) { await database.run(insert, [id]); process.stdout.write(id + "\\n"); }
  `;
  try {
    await copyCluster(dataDirectory);
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", writer, dataDirectory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk) => {
        output += chunk;
        if (output.length > 5000) resolve();
      });
    });
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    const answered = Number(output.trim().split("\n").at(-1));
    const database = await openDatabase({ dataDirectory, schema: "shop", migrations });
    const [last] = await database.run<{ id: number }>({ name: "", text: "select max(id) as id from things" }, []);
    await database.close();
    expect(answered).toBeGreaterThan(500);
    expect(last?.id).toBeGreaterThanOrEqual(answered);
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
