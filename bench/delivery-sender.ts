/**
 * One measurement of the sending side, in a process of its own: `COUNT` webhooks to the endpoints at `PORTS`, 256 in flight.
 * `MODE=ours` sends them by the real sender over a real store (`DATABASE_URL`, or an embedded one in `DATA_DIR`), from
 * waiting rows to booked ones; `MODE=floor` posts the same bytes with undici alone. Prints one line of JSON.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { AdDatabase, AdTables } from "../apps/ad-service/src/ad-database.ts";
import { addBot } from "../apps/ad-service/src/bots/add-bot.ts";
import { secretBox as openSecretBox } from "../apps/ad-service/src/bots/secret-box.ts";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { openGuardedRequests } from "../apps/ad-service/src/outbound/guarded-request.ts";
import { openWebhookDelivery } from "../apps/ad-service/src/webhook-delivery/deliver-due-webhooks.ts";
import { openDatabase, statement } from "../packages/postgres/src/open-database.ts";

const count = Number(process.env.COUNT);
const ports = (process.env.PORTS ?? "").split(",").map(Number);
const inFlight = 256;
const perEndpoint = 8;
const warmUp = Math.min(3000, count);

/** The first run is for the just-in-time compiler; making what is to be sent is not measured. */
async function measure(
  send: (number: number) => Promise<void>,
  make: (number: number) => Promise<void> = async () => {},
): Promise<void> {
  await make(warmUp);
  await send(warmUp);
  await make(count);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await send(count);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  console.log(JSON.stringify({ perSecond: count / seconds, cpuMicroseconds: (cpu.user + cpu.system) / count }));
}

async function measureFloor(): Promise<void> {
  const pools = ports.map((port) => new Pool(`http://127.0.0.1:${port}`, { connections: inFlight, pipelining: 1 }));
  const body = JSON.stringify({
    ...{ event: "direct_link", event_id: `evt_${"0".repeat(36)}`, bot_id: "8000000001", user_tg_id: "100000001" },
    ...{ code: "x".repeat(16), occurred_at: new Date().toISOString() },
  });
  const headers = {
    "content-type": "application/json",
    "user-agent": "Intermission-Webhooks/1.0",
    "x-bot-id": "8000000001",
    "x-timestamp": "2026-01-01T00:00:00Z",
    "x-signature": `sha256=${"0".repeat(64)}`,
    "webhook-id": `evt_${"0".repeat(36)}`,
    "webhook-timestamp": "1700000000",
    "webhook-signature": `v1,${"0".repeat(44)}`,
    "webhook-attempt": "1",
  };
  await measure(async (number) => {
    let next = 0;
    const worker = async () => {
      while (next < number) {
        const pool = pools[next++ % pools.length];
        const answer = await pool?.request({ method: "POST", path: "/hook", headers, body });
        if (answer?.statusCode !== 200) throw new Error(`the sink answered ${answer?.statusCode}`);
        await answer.body.text();
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  });
  await Promise.all(pools.map((pool) => pool.close()));
}

const insertWaiting = statement<never>(
  "bench.insert-waiting",
  `with made as (
    insert into events (bot_id, event_id, event, user_id, code, occurred_at, body)
    select bot_id, event_id, 'direct_link', '100000001', $2 || '-' || number, now(),
      json_build_object('event', 'direct_link', 'event_id', event_id, 'bot_id', bot_id, 'user_tg_id', '100000001',
        'code', 'xxxxxxxxxxxxxxxx', 'occurred_at', '2026-01-01T00:00:00.000Z')::text
    from (
      select number, (8000000000 + number % $3)::text as bot_id, 'evt_' || gen_random_uuid() as event_id
      from generate_series(1, $1::integer) as number
    ) as numbers
    returning bot_id, event_id
  )
  insert into deliveries (bot_id, event_id, state) select bot_id, event_id, 'waiting' from made`,
);
const isBusy = statement<{ isBusy: boolean }>(
  "bench.is-busy",
  `select exists (select from deliveries where state = 'waiting') or exists (select from deliveries where state = 'sending')
     as "isBusy"`,
);

async function addEndpoints(database: AdDatabase, secretBox: ReturnType<typeof openSecretBox>): Promise<void> {
  for (const [index, port] of ports.entries()) {
    const settings = { webhookUrl: `http://127.0.0.1:${port}/hook` };
    await addBot({ database, secretBox }, { botId: String(8_000_000_000 + index), settings, now: new Date() });
  }
  await database.query.updateTable("endpoints").set({ state: "active", max_in_flight: perEndpoint }).execute();
}

async function measureOurs(): Promise<void> {
  const database = await openDatabase<AdTables>({
    databaseUrl: process.env.DATABASE_URL,
    dataDirectory: process.env.DATA_DIR ?? "",
    schema: "ad_service",
    migrations,
  });
  const secretBox = openSecretBox(Buffer.alloc(32, 1));
  await addEndpoints(database, secretBox);
  const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { webhook: ["127.0.0.0/8"] } });
  const complain = (facts: object, message: string) => console.error(message, facts);
  const log = { info: () => {}, warn: complain, error: complain };
  const delivery = openWebhookDelivery({ database, secretBox, requests, log });
  delivery.start();
  let batch = 0;
  await measure(
    async () => {
      await database.query.updateTable("endpoints").set({ rest_until: Number.NEGATIVE_INFINITY }).execute();
      delivery.wake();
      // Asked rarely: the asking costs, too.
      while ((await database.run(isBusy, []))[0]?.isBusy) await sleep(25);
    },
    async (number) => {
      batch += 1;
      await database.query.updateTable("endpoints").set({ rest_until: Number.POSITIVE_INFINITY }).execute();
      await database.run(insertWaiting, [number, `batch${batch}`, ports.length]);
    },
  );
  await delivery.stop();
  await requests.close();
  await database.close();
}

await (process.env.MODE === "floor" ? measureFloor() : measureOurs());
