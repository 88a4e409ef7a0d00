import { type Database, statement } from "@intermission/postgres/open-database";
import { rarelyRead } from "@intermission/server/metrics";
import { Counter, Gauge, type Registry } from "prom-client";
import type { CallOutcome } from "./trackers.ts";

const outcomes = ["answered", "refused", "failed", "unknown", "retried"] as const satisfies (CallOutcome | "retried")[];

const waiting = statement<{ calls: number; oldestSeconds: number }>(
  "vast.waiting-calls",
  `select count(*) as calls, greatest(0, coalesce(extract(epoch from now() - min(due_at)), 0))::float8 as "oldestSeconds"
   from tracker_calls where finished_at is null`,
);

/** Metrics of the calls to trackers. Calls are counted by the node that makes them; those that wait are of all nodes. */
export function trackerMetrics(
  registry: Registry,
  { database, log }: { readonly database: Database; readonly log: { warn(facts: object, message: string): void } },
): (outcome: (typeof outcomes)[number]) => void {
  const calls = new Counter({
    name: "intermission_tracker_calls_total",
    help: "Calls to trackers by outcome; retried ones are made again.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // From the start, so that the first failure is an increase.
  for (const outcome of outcomes) calls.inc({ outcome }, 0);
  const read = rarelyRead(async () => (await database.run(waiting, []))[0]);
  // Without figures the series is absent rather than wrong.
  const figures = () =>
    read().catch((error: unknown) => {
      log.warn({ err: error }, "the calls to trackers that wait could not be counted");
      return undefined;
    });
  for (const [name, help, of] of [
    ["intermission_tracker_calls_waiting", "Calls to trackers that are not finished.", "calls"],
    [
      "intermission_oldest_tracker_call_seconds",
      "How long the oldest due call to a tracker has waited.",
      "oldestSeconds",
    ],
  ] as const)
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const found = await figures();
        this.reset();
        this.set(found?.[of] ?? Number.NaN);
      },
    });
  return (outcome) => calls.inc({ outcome });
}
