import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { withStoreConnection } from "./connect-store.ts";
import { exportRows } from "./export-store.ts";
import { findManifest, sealExport } from "./exported-store.ts";
import { importRows } from "./import-store.ts";
import { openDatabase } from "./open-database.ts";
import { afterReferences } from "./schema-tables.ts";

const schema = "shop";
const migrations = {
  "0001-schema": `
    create table zones (zone text primary key);
    insert into zones values ('of the migration');
    create table orders (
      order_id bigint generated always as identity primary key, zone text not null references zones,
      body jsonb, sealed bytea, price double precision, made_at timestamptz not null default now(),
      twice bigint generated always as (order_id * 2) stored, xid xid8 not null default commit_xid()
    );
    create table entries (entry_id serial primary key, order_id bigint not null references orders, note text);
    create table facts (at timestamptz not null, note text, primary key (at)) partition by range (at);
    create function stay() returns trigger language plpgsql as $$ begin raise exception 'append-only'; end $$;
    create trigger entries_stay before update or delete or truncate on entries execute function stay();`,
};
const fill = `
  create table shop.facts_20260601 partition of shop.facts for values from ('2026-06-01') to ('2026-06-08') with (fillfactor = 70);
  create table shop.facts_20260608 partition of shop.facts for values from ('2026-06-08') to ('2026-06-15');
  create table shop.facts_20300101 partition of shop.facts for values from ('2030-01-01') to ('infinity');
  insert into shop.facts select '2026-06-01'::timestamptz + n * interval '1 hour', 'n' || n from generate_series(0, 335) n;
  delete from shop.zones; insert into shop.zones values ('a'), (E'tab\\there, line\\nbreak, back\\\\slash, \\\\N'), ('');
  insert into shop.orders (zone, body, sealed, price) select case n % 3 when 0 then 'a' when 1 then '' else E'tab\\there, line\\nbreak, back\\\\slash, \\\\N' end,
    case when n % 5 > 0 then jsonb_build_object('n', n, 'text', E'"ä\\n€') end, decode(md5(n::text), 'hex'), n / 3.0 from generate_series(1, 300) n;
  insert into shop.entries (order_id, note) select order_id, nullif(repeat('x', order_id::int % 40), '') from shop.orders`;

async function temporary(): Promise<{ url: string; folder: string }> {
  const { url, drop } = await createServerDatabase();
  const folder = mkdtempSync(join(tmpdir(), "move-"));
  onTestFinished(async () => {
    await drop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { url, folder };
}

const placeOf = (databaseUrl: string) => ({ databaseUrl, dataDirectory: "", buffersMegabytes: 16 });

async function ask(url: string, sql: string): Promise<pg.QueryResult["rows"]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(sql).then(
    ({ rows }) => client.end().then(() => rows),
    (error: unknown) => client.end().then(() => Promise.reject(error)),
  );
}

async function serverOn(databaseUrl: string): Promise<void> {
  await (await openDatabase({ databaseUrl, dataDirectory: "", schema, migrations })).close();
}

/** A store with rows, exported in small parts. */
async function exported(): Promise<{ source: string; folder: string }> {
  const { url, folder } = await temporary();
  await serverOn(url);
  await ask(url, fill);
  await exportAll(url, folder);
  return { source: url, folder };
}

async function exportAll(url: string, folder: string, onProgress = () => {}): Promise<void> {
  const { rows } = await withStoreConnection(placeOf(url), { mayCreate: false }, (client) =>
    exportRows(client, { schema, migrations, folder, onProgress, partBytes: 4000, alsoRead: async () => {} }),
  );
  await sealExport(folder, { format: "intermission-export/1", ...rows, encryptionKey: null, files: [] });
}

async function importAll(
  url: string,
  folder: string,
  options: { onProgress?: (step: string) => void; copyOthers?: () => Promise<void>; changed?: typeof migrations } = {},
): Promise<void> {
  const manifest = await findManifest(folder);
  if (manifest === undefined) throw new Error("no whole export");
  const { onProgress = () => {}, copyOthers = async () => {}, changed = migrations } = options;
  await withStoreConnection(placeOf(url), { mayCreate: true }, (client) =>
    importRows(client, { schema, migrations: changed, folder, exported: manifest, onProgress, copyOthers }),
  );
}

const contents = `select (select json_agg(z order by zone collate "C") from shop.zones z) as zones,
  (select json_agg(o order by order_id) from shop.orders o) as orders, (select json_agg(e order by entry_id) from shop.entries e) as entries,
  (select json_agg(f order by at) from (select *, tableoid::regclass as part from shop.facts) f) as facts,
  (select json_agg(json_build_array(pg_get_expr(relpartbound, oid), reloptions) order by relname) from pg_class
    where relnamespace = 'shop'::regnamespace and relispartition and relkind = 'r') as partitions`;

test("an imported store has the same rows, counts on, and a server opens it", async () => {
  const { source, folder } = await exported();
  expect(readdirSync(join(folder, "tables")).length).toBeGreaterThan(10);
  const target = await temporary();
  await importAll(target.url, folder);
  expect(await ask(target.url, contents)).toEqual(await ask(source, contents));
  await serverOn(target.url);
  expect(
    await ask(
      target.url,
      "insert into shop.orders (zone) values ('a') returning order_id, twice, xid > '1000000'::xid8 as later",
    ),
  ).toEqual([{ order_id: "301", twice: "602", later: true }]);
  expect(await ask(target.url, "insert into shop.entries (order_id) values (301) returning entry_id")).toEqual([
    { entry_id: 301 },
  ]);
});

test("an import that stops at any moment goes on where it stopped, and until its end no server opens the store", {
  tags: "long",
}, async () => {
  const { source, folder } = await exported();
  const target = await temporary();
  const stopsAt = [0, 1, 7, 15];
  for (const stopAt of stopsAt) {
    let steps = 0;
    const stop = () => {
      steps += 1;
      if (steps > stopAt) throw new Error("stopped");
    };
    await expect(importAll(target.url, folder, { onProgress: stop })).rejects.toThrow("stopped");
    await expect(serverOn(target.url)).rejects.toThrow(/an import into the schema "shop" has not ended: repeat/);
  }
  await expect(
    importAll(target.url, folder, { copyOthers: () => Promise.reject(new Error("no file")) }),
  ).rejects.toThrow("no file");
  await importAll(target.url, folder);
  expect(await ask(target.url, contents)).toEqual(await ask(source, contents));
  await serverOn(target.url);
});

test("rows that another connection changes during the import are an error that names the table", {
  tags: "long",
}, async () => {
  const { folder } = await exported();
  for (const [change, words] of [
    [
      "update shop.orders set price = 7 where order_id = 5",
      /table shop.orders differs .* 300 rows with another checksum/,
    ],
    ["insert into shop.entries values (1000, 1)", /table shop.entries differs .* 301 rows instead of 300/],
  ] as const) {
    const target = await temporary();
    const copyOthers = async () => {
      await ask(target.url, change);
    };
    await expect(importAll(target.url, folder, { copyOthers })).rejects.toThrow(words);
    await expect(serverOn(target.url)).rejects.toThrow(/has not ended/);
  }
});

test("a store that is not empty, another export, another version and a damaged file are refused with the next step", {
  tags: "long",
}, async () => {
  const { source, folder } = await exported();
  await expect(importAll(source, folder)).rejects.toThrow(
    /the schema "shop" is in the store already.*name an empty store/,
  );
  const target = await temporary();
  const changed = { ...migrations, "0002-more": "select 1" };
  await expect(importAll(target.url, folder, { changed })).rejects.toThrow(
    /of another version: it ends with 0001-schema, this program's ends with 0002-more .*import it by the version that exported/,
  );
  const [, second = ""] = readdirSync(join(folder, "tables")).sort();
  appendFileSync(join(folder, "tables", second), "x");
  await expect(importAll(target.url, folder)).rejects.toThrow(/export is damaged: .*\.copy is changed. Copy it again/);
  const other = await exported();
  await expect(importAll(target.url, other.folder)).rejects.toThrow(/import of another export .* was begun/);
});

test("an export is one moment: rows that are committed while it runs are not in it, and an interrupted one is no export", {
  tags: "long",
}, async () => {
  const { url, folder } = await temporary();
  await serverOn(url);
  await ask(url, fill);
  let isChanged = false;
  const changing = exportAll(url, folder, () => {
    if (isChanged) return;
    isChanged = true;
    // The export's own session waits for the progress report, so the change commits before the next table is read.
    void ask(url, "insert into shop.orders (zone) select 'a' from generate_series(1, 50)");
  });
  await changing;
  const manifest = (await findManifest(folder))?.manifest;
  const counts = Object.fromEntries((manifest?.tables ?? []).map(({ name, rows }) => [name, rows]));
  expect(counts).toMatchObject({ orders: 300, entries: 300 });
  const broken = mkdtempSync(join(tmpdir(), "move-"));
  onTestFinished(() => rmSync(broken, { recursive: true, force: true }));
  const stop = () => {
    throw new Error("stopped");
  };
  await expect(exportAll(url, broken, stop)).rejects.toThrow("stopped");
  expect(await findManifest(broken)).toBeUndefined();
  await exportAll(url, broken);
  expect(await findManifest(broken)).toBeDefined();
});

test("tables are stored after those that their foreign keys name; a circle is an error", () => {
  const names = (tables: { name: string; references: string[] }[]) => afterReferences(tables).map(({ name }) => name);
  const [a, b, c] = [
    { name: "a", references: ["c"] },
    { name: "b", references: ["a", "c"] },
    { name: "c", references: [] },
  ];
  expect(names([b, a, c])).toEqual(["c", "a", "b"]);
  expect(() => names([a, { name: "c", references: ["a"] }])).toThrow("a, c form a circle");
});
