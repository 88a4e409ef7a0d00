/**
 * The floor of deliveries: undici alone posts a webhook's bytes `COUNT` times to the endpoints at `PORTS`, 256 in flight,
 * in a separate process. As many posts before them warm it up; then a `POST` to `COUNT_FROM_NOW` starts the count. Prints
 * the processor time of the measured posts.
 */
import { Pool } from "undici";

const count = Number(process.env.COUNT);
const ports = (process.env.PORTS ?? "").split(",").map(Number);
const inFlight = 256;

const pools = ports.map((port) => new Pool(`http://127.0.0.1:${port}`, { connections: inFlight, pipelining: 1 }));
const body = JSON.stringify({
  event: "direct_link",
  event_id: `evt_${"0".repeat(36)}`,
  bot_id: "8000000001",
  user_tg_id: "100000001",
  code: "x".repeat(16),
  occurred_at: new Date().toISOString(),
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

async function send(): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const pool = pools[next++ % pools.length];
      const answer = await pool?.request({ method: "POST", path: "/hook", headers, body });
      if (answer?.statusCode !== 200) throw new Error(`the sink answered ${answer?.statusCode}`);
      await answer.body.text();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

await send();
await fetch(process.env.COUNT_FROM_NOW ?? "", { method: "POST" });
const cpuBefore = process.cpuUsage();
await send();
const { user, system } = process.cpuUsage(cpuBefore);
await Promise.all(pools.map((pool) => pool.close()));
console.log(JSON.stringify({ nodeMilliseconds: (user + system) / 1000 }));
