import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "undici";
import { type BenchStack, startFloor } from "./bench-stack.ts";
import { type LoadResult, load } from "./load.ts";
import { addBenchBot, nextAddress, operate } from "./operate.ts";
import type { Measured } from "./run.ts";

const bots = 32;

/**
 * Events earned by many bots without an address are held; giving each bot the sink's address lets all of them go at once.
 * Measured from the first arrival at the sink until the last. The floor is undici posting the same bodies to the same
 * sink over as many connections, without a database. Latencies are the floor's only: a delivery has no caller that waits.
 */
export async function measureDeliveries(
  stack: BenchStack,
  _floorUrl: string,
  count: number,
  round: number,
): Promise<Measured> {
  const sink = await startFloor("bench/sink-server.ts");
  try {
    const body = JSON.stringify({
      event: "direct_link",
      event_id: `evt_${"0".repeat(36)}`,
      user_tg_id: "1".repeat(9),
      code: "x".repeat(16),
    });
    const floor = await load(
      sink.url,
      count,
      () => ({ method: "POST", path: "/", headers: { "content-type": "application/json" }, body }),
      200,
    );
    const perBot = Math.floor(count / bots);
    const botIds = Array.from({ length: bots }, (_, index) => String(8_000_000_000 + round * 1000 + index));
    for (const botId of botIds) await earnClicks(stack, botId, perBot);
    const before = await received(sink.url);
    await Promise.all(botIds.map((botId) => operate(stack, "PATCH", `/bots/${botId}`, { webhookUrl: `${sink.url}/` })));
    // Held events are released by a sweep each few seconds; what is measured begins when they flow.
    const arrived = async () => (await received(sink.url)) - before;
    while ((await arrived()) === 0) await wait(5);
    const startedAt = performance.now();
    const first = await arrived();
    while ((await arrived()) < perBot * bots) {
      if (performance.now() - startedAt > 120_000) throw new Error("the deliveries did not arrive in two minutes");
      await wait(20);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const ours: LoadResult = {
      perSecond: (perBot * bots - first) / seconds,
      p50Milliseconds: Number.NaN,
      p99Milliseconds: Number.NaN,
    };
    return { floor, ours };
  } finally {
    await sink.stop();
  }
}

async function earnClicks(stack: BenchStack, botId: string, clicks: number): Promise<void> {
  const token = await addBenchBot(stack, botId);
  const pool = new Pool(stack.urls.adService, { connections: 64 });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const click = async (index: number) => {
    const created = await pool.request({
      method: "POST",
      path: "/client/v1/codes",
      headers,
      body: JSON.stringify({ bot_id: botId, user_tg_id: String(1 + index) }),
    });
    const { code } = JSON.parse(await created.body.text());
    const address = nextAddress();
    const followed = await pool.request({
      method: "GET",
      path: `/${code}`,
      headers: {
        "user-agent": "Mozilla/5.0 (Linux; Android 15) Chrome/140.0.0.0 Mobile",
        accept: "text/html",
        "accept-language": "en",
        "x-forwarded-for": address,
      },
    });
    await followed.body.dump();
    if (followed.statusCode !== 302) throw new Error(`following a link answered ${followed.statusCode}`);
  };
  for (let index = 0; index < clicks; index += 64) {
    await Promise.all(Array.from({ length: Math.min(64, clicks - index) }, (_, offset) => click(index + offset)));
  }
  await pool.close();
}

async function received(sinkUrl: string): Promise<number> {
  return Number(await (await fetch(sinkUrl)).text());
}
