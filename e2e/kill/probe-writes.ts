import { setTimeout as wait } from "node:timers/promises";
import type { Nodes } from "./start-nodes.ts";
import { withRetries } from "./with-retries.ts";

const PROBE_EVERY_MS = 100;

/** Requests codes again and again: when was the last one acknowledged, and does each of them exist at the end? */
export function probeWrites({ adServiceUrl, secrets }: Nodes) {
  const headers = { authorization: `Bearer ${secrets.adApiToken}`, "content-type": "application/json" };
  const acknowledged: { code: string; startedAt: number; answeredAt: number }[] = [];
  const underWay = new Set<Promise<void>>();
  let next = 0;

  async function probe(): Promise<void> {
    const startedAt = performance.now();
    const body = JSON.stringify({ bot_id: secrets.botId, user_tg_id: String(900_000 + next++) });
    const signal = AbortSignal.timeout(5000);
    const answer = await fetch(`${adServiceUrl}/client/v1/codes`, { method: "POST", headers, body, signal });
    const text = await answer.text();
    if (answer.status === 200)
      acknowledged.push({ code: JSON.parse(text).code, startedAt, answeredAt: performance.now() });
  }
  const timer = setInterval(() => {
    const work = probe()
      // An outage is measured, not a fault.
      .catch(() => {})
      .finally(() => underWay.delete(work));
    underWay.add(work);
  }, PROBE_EVERY_MS);

  return {
    /** Seconds from `since` until a write that began later was acknowledged. */
    async secondsUntilWrite(since: number): Promise<number> {
      const found = () => acknowledged.filter(({ startedAt }) => startedAt >= since)[0];
      for (let first = found(); ; first = found()) {
        if (first !== undefined) return (first.answeredAt - since) / 1000;
        if (performance.now() - since > 120_000) throw new Error("no write was acknowledged for two minutes");
        await wait(20);
      }
    },
    /** The longest time since then in which no write was acknowledged. */
    longestGapSeconds(since: number): number {
      const moments = [since, ...acknowledged.map(({ answeredAt }) => answeredAt).filter((at) => at > since)];
      const sorted = moments.sort((one, other) => one - other);
      return Math.max(...sorted.map((at, index) => at - (sorted[index - 1] ?? at))) / 1000;
    },
    count: () => acknowledged.length,
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(underWay);
    },
    /** The acknowledged codes that do not exist. */
    async lost(): Promise<string[]> {
      const lost: string[] = [];
      for (const { code } of acknowledged) {
        const status = await withRetries("describing a code", async () => {
          const answer = await fetch(`${adServiceUrl}/client/v1/codes/${code}`, { headers });
          await answer.arrayBuffer();
          return answer.status === 200 || answer.status === 404 ? answer.status : undefined;
        });
        if (status === 404) lost.push(code);
      }
      return lost;
    },
  };
}

export type WriteProbe = ReturnType<typeof probeWrites>;
