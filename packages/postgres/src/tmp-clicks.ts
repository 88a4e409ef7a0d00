import { readFileSync } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import pg from "pg";
import { openDatabase } from "./open-database.ts";
import { newCode, newEventId } from "../../ad-core/src/code.ts";
import { migrations } from "../../../apps/ad-service/src/migrations.ts";

const url = "postgres://postgres@/bench?host=/tmp/clk";
const admin = new pg.Client("postgres://postgres@/postgres?host=/tmp/clk");
await admin.connect();
await admin.query("drop database if exists bench");
await admin.query("create database bench");
await admin.end();
const db = await openDatabase<any>({ databaseUrl: url, dataDirectory: "/tmp/none", schema: "ad_service", migrations, poolSize: 1 });
await db.close();
const c = new pg.Client(url);
await c.connect();
await c.query(`set search_path to ad_service; set timezone to 'UTC'; set jit to off;
    set plan_cache_mode to force_generic_plan; set enable_seqscan to off; set enable_mergejoin to off; create extension if not exists pg_walinspect with schema public`);
if (process.env.SYNC_OFF) await c.query("set synchronous_commit to off");
await c.query(`insert into bots (bot_id, code_prefix, name, cooldown_seconds, daily_cap) values ('9000000001','abcd','B',0,1000);
insert into advertisers (name,name_key) values ('Shop','shop');
insert into campaigns (campaign_id,name,advertiser,formats,landing_url,click_price_micros) values ('cmp_0123456789abcdef','L','Shop','{direct_link}','https://shop.test/',1500)`);
const N = Number(process.env.N ?? 64), ROUNDS = Number(process.env.ROUNDS ?? 300);
const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";
const day = new Date(); day.setUTCHours(1, 0, 0, 0);
const t0 = day.getTime();
const total = N * (ROUNDS * 2 + 40);
const codes: string[] = [];
for (let i = 0; i < total; i++) codes.push(newCode("abcd", randomBytes(32)));
for (let i = 0; i < total; i += 5000) {
  const part = codes.slice(i, i + 5000);
  await c.query(`insert into codes (bot_id, code, user_id, issued_at, expires_at) select '9000000001', code, u, $2, $3 from unnest($1::text[], $4::text[]) as x(code,u)`, [part, new Date(t0 - 60000), new Date(t0 + 7200_000), part.map((_, j) => String(500_000_000 + i + j))]);
}
const h = (t: string) => createHash("sha256").update(t).digest().subarray(0, 16);
const rows = (from: number) => codes.slice(from, from + N).map((code, j) => {
  const i = from + j; const now = t0 + 1000 + i; const ip = `10.${i >> 16 & 255}.${i >> 8 & 255}.${i & 255}`; const net = `10.${i>>16&255}.${i >> 8 & 255}`;
  return { code, eventId: newEventId(now, randomBytes(10)), now: new Date(now), h: h("a" + ip), hb: h("b" + ip), net: h(net), key: h("k" + ip).readInt32BE(0) };
}).sort((a, b) => a.h.compare(b.h));
const text = `select * from follow_links($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,30)`;
async function batch(from: number) {
  const r = rows(from);
  const values = [r.map(() => "9000000001"), r.map((x) => x.code), r.map((x) => x.eventId), r.map((x) => x.now.toISOString()), r.map(() => null), r.map(() => null), r.map(() => false), r.map(() => "cmp_0123456789abcdef"), r.map(() => false), r.map(() => agent), r.map((x) => x.key), r.map((x) => x.h), r.map((x) => x.hb), r.map((x) => x.net), null, 0];
  const res = await c.query({ name: "follow", text, values });
  if (res.rows.some((x) => x.outcome !== "counted")) throw new Error(JSON.stringify(res.rows.find((x) => x.outcome !== "counted")));
}
const pid = (await c.query("select pg_backend_pid() as p")).rows[0].p;
await c.query(`create table ref_events (event_id text not null, bot_id text not null, event text not null, user_id text not null, code text, reference text, is_test boolean not null default false, campaign_id text, creative_id text, price_micros bigint, occurred_at timestamptz not null, user_agent text, address_hash bytea, network_hash bytea, body text not null, xid xid8 not null default commit_xid(), primary key (event_id, bot_id), unique (bot_id, code, event));
create index on ref_events (bot_id, xid, event_id); create index on ref_events (xid) where price_micros is not null; create index on ref_events (bot_id, user_id, occurred_at desc);
create table ref_viewers (like viewers including all); create table ref_days (like campaign_days including all)`);
const ref = `with asked as (select * from unnest($1::text[],$2::text[],$3::text[],$4::timestamptz[],$5::text[],$6::text[],$7::text[],$8::bytea[],$9::bytea[],$10::text[]) as a(bot_id,code,event_id,occurred_at,user_id,campaign_id,user_agent,address_hash,network_hash,body)),
e as (insert into ref_events (bot_id,code,event_id,event,occurred_at,user_id,campaign_id,user_agent,address_hash,network_hash,body,price_micros) select bot_id,code,event_id,'direct_link',occurred_at,user_id,campaign_id,user_agent,address_hash,network_hash,body,1500 from asked on conflict do nothing returning bot_id,user_id,event_id,campaign_id,price_micros,occurred_at),
v as (insert into ref_viewers (bot_id,user_id,day,earned_today,last_earned_at) select bot_id,user_id,(occurred_at at time zone 'utc')::date,1,occurred_at from e on conflict (bot_id,user_id) do update set earned_today=ref_viewers.earned_today+1),
d as (insert into ref_days (campaign_id, day, clicks, spent_micros) select campaign_id,(occurred_at at time zone 'utc')::date,count(*),sum(price_micros) from e group by 1,2 on conflict (campaign_id,day) do update set clicks=ref_days.clicks+excluded.clicks)
select event_id from e`;
async function refBatch(from: number) {
  const r = rows(from);
  const body = (x: any, j: number) => JSON.stringify({ event: "direct_link", event_id: x.eventId, bot_id: "9000000001", user_tg_id: String(500_000_000 + from + j), code: x.code, occurred_at: x.now.toISOString() });
  await c.query({ name: "ref", text: ref, values: [r.map(() => "9000000001"), r.map((x) => x.code), r.map((x) => x.eventId), r.map((x) => x.now.toISOString()), r.map((_, j) => String(500_000_000 + from + j)), r.map(() => "cmp_0123456789abcdef"), r.map(() => agent), r.map((x) => x.h), r.map((x) => x.net), r.map(body)] });
}
const cpu = () => Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000;
const cpuOld = () => { const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" "); return (Number(f[11]) + Number(f[12])) * 10_000; };
let from = 0;
for (let k = 0; k < ROUNDS; k++, from += N) { await batch(from); await refBatch(from); }
await c.query("checkpoint");
await c.query("analyze");
for (let k = 0; k < 20; k++, from += N) { await batch(from); await refBatch(from); }
const lsn0 = (await c.query("select pg_current_wal_lsn() l")).rows[0].l;
const start = from;
const ours: number[][] = [], refs: number[][] = [];
const measured = async (work: () => Promise<void>) => { const a = cpu(), b = process.cpuUsage(), w = performance.now(); await work(); const d = process.cpuUsage(b); return [(cpu() - a) / N, (d.user + d.system) / N, ((performance.now() - w) * 1000) / N]; };
let wal = 0;
for (let k = 0; k < ROUNDS - 20; k++, from += N) {
  ours.push(await measured(() => batch(from)));
}
const lsn1 = (await c.query("select pg_current_wal_lsn() l")).rows[0].l;
for (let k = 0, f = start; k < ROUNDS - 20; k++, f += N) refs.push(await measured(() => refBatch(f)));
const clicks = from - start;
const at = (list: number[][], i: number, q: number) => list.map((x) => x[i]).sort((a, b) => a - b)[Math.floor(list.length * q)].toFixed(1);
for (const q of [0.1, 0.25, 0.5]) console.log(`q${q} per click: ours PostgreSQL ${at(ours, 0, q)} node ${at(ours, 1, q)} wall ${at(ours, 2, q)}; reference ${at(refs, 0, q)} node ${at(refs, 1, q)} wall ${at(refs, 2, q)}`);
const walRows = await c.query(`select "resource_manager/record_type" as rm, count, record_size, fpi_size from public.pg_get_wal_stats($1,$2,true) where count>0 order by record_size desc`, [lsn0, lsn1]);
let rec = 0, fpi = 0, cnt = 0;
for (const r of walRows.rows) { rec += Number(r.record_size); fpi += Number(r.fpi_size); cnt += Number(r.count); }
console.log(`WAL per click: ${(rec / clicks).toFixed(0)} B records (${(cnt / clicks).toFixed(1)}), ${(fpi / clicks).toFixed(0)} B page images`);
if (process.env.WAL) for (const r of walRows.rows.slice(0, 12)) console.log(r.rm, (Number(r.count) / clicks).toFixed(2), (Number(r.record_size) / clicks).toFixed(0));
console.log((await c.query("select count(*) from events")).rows[0]);
if (process.env.HOOK) { const { default: hook } = await import(process.env.HOOK); await hook(c, batch, () => { const f = from; from += N; return f; }); }
await c.end();
