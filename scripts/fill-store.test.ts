// @module-tag long
import { expect, onTestFinished, test } from "vitest";
import { migrations as adServiceMigrations } from "../apps/ad-service/src/migrations.ts";
import { migrations as apiMigrations } from "../apps/api/src/migrations.ts";
import { fillStore } from "../bench/growth/fill-store.ts";
import { filledPeriod } from "../bench/growth/filled-period.ts";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import { createServerDatabase } from "../packages/testing/src/test-server.ts";

const seed = `with bot as (
    insert into bots (bot_id, code_prefix, name) values ('910', 'abcd', 'Bot')
  ), advertiser as (
    insert into advertisers (advertiser_id, name, name_key) values ('adv_1', 'One', 'one')
  ), creative as (
    insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
    values ('cre_1', 'ab', 'ab.mp4', 'video/mp4', 1, 30000, 1, 1)
  )
  insert into campaigns (campaign_id, name, advertiser_id, formats) values ('cmp_1', 'One', 'adv_1', '{rewarded,direct_link}')`;

/** Keys and indexes of all tables but the partitions by week, whose tables have them. */
const definitions = `select pg_get_indexdef(indexrelid) as definition, indisvalid as "isValid" from pg_index join pg_class on oid = indrelid
  where relnamespace in ('ad_service'::regnamespace, 'api'::regnamespace) and relname !~ '_[0-9]{8}$' order by 1`;

const counts = `select (select count(*) from codes) as codes, (select count(*) from api.codes) as "apiCodes",
  (select count(*) from events join codes using (code, bot_id)) as "eventsOfCodes",
  (select count(*) from views join codes using (code, user_id) join events using (code) where event = 'rewarded') as "viewsOfCodes",
  (select count(*) from events join api.ledger_entries using (event_id, code)) as receipts,
  (select sum(rewards) from stats_bot_sums where span = 'day')::integer as rewards`;

test("the bench of growth fills tables that agree, and leaves their keys and indexes as they were", async () => {
  const { url, drop } = await createServerDatabase();
  const open = (schema: string, migrations: Readonly<Record<string, string>>) =>
    openDatabase({ databaseUrl: url, dataDirectory: "", schema, migrations });
  const [api, store] = [await open("api", apiMigrations), await open("ad_service", adServiceMigrations)];
  onTestFinished(async () => {
    await Promise.all([api.close(), store.close()]);
    await drop();
  });
  const ask = <Row>(text: string) => store.run<Row>({ name: "", text }, []);
  await ask(seed);
  const before = await ask(definitions);
  const { keptCodes } = await fillStore({
    databaseUrl: url,
    botId: "910",
    period: filledPeriod({ codes: 1200, days: 60 }),
  });
  expect(await ask(definitions)).toEqual(before);
  // Of 60 days, the codes of the last 30 are kept, and of up to six days before, which are in the same week.
  expect(keptCodes).toBeGreaterThanOrEqual(600);
  expect(keptCodes).toBeLessThanOrEqual(720);
  const [counted] = await ask<Record<string, number>>(counts);
  expect(counted).toMatchObject({ codes: keptCodes, apiCodes: 1200, receipts: 600, rewards: 300 });
  // Each second code has earned, each fourth by a view.
  expect(Math.abs((counted?.eventsOfCodes ?? 0) - keptCodes / 2)).toBeLessThan(1);
  expect(Math.abs((counted?.viewsOfCodes ?? 0) - keptCodes / 4)).toBeLessThan(1);
});
