import { Counter, Gauge, type Registry } from "prom-client";
import type { BackgroundLoop } from "./background-loop.ts";

/** Metrics of what this node does beside its requests: background loops, and its connections to the database. */
export function nodeMetrics(
  registry: Registry,
  {
    loops,
    poolState,
    poolSize,
  }: {
    /** By name, which is a label. */
    readonly loops: Readonly<Record<string, Pick<BackgroundLoop, "health">>>;
    readonly poolState: () => { readonly open: number; readonly idle: number; readonly waiting: number };
    readonly poolSize: number;
  },
): void {
  const registers = [registry];
  new Counter({
    name: "intermission_loop_rounds_total",
    registers,
    labelNames: ["loop", "outcome"],
    help: "Rounds of this node's background loops.",
    collect() {
      this.reset();
      for (const [loop, { health }] of Object.entries(loops)) {
        this.inc({ loop, outcome: "done" }, health.done);
        this.inc({ loop, outcome: "failed" }, health.failed);
      }
    },
  });
  new Gauge({
    name: "intermission_loop_last_done_timestamp_seconds",
    registers,
    labelNames: ["loop"],
    help: "When a round of a background loop last ended without a fault; absent before the first time.",
    collect() {
      this.reset();
      for (const [loop, { health }] of Object.entries(loops))
        if (health.lastDoneAt !== undefined) this.set({ loop }, health.lastDoneAt / 1000);
    },
  });
  new Gauge({
    name: "intermission_database_connections",
    registers,
    labelNames: ["state"],
    help: "Connections of this node's pool: busy or idle.",
    collect() {
      const { open, idle } = poolState();
      this.set({ state: "busy" }, open - idle);
      this.set({ state: "idle" }, idle);
    },
  });
  new Gauge({
    name: "intermission_database_connections_max",
    registers,
    help: "DATABASE_POOL_SIZE.",
  }).set(poolSize);
  new Gauge({
    name: "intermission_database_waiting_requests",
    registers,
    help: "Requests of this node that wait for a free connection now.",
    collect() {
      this.set(poolState().waiting);
    },
  });
}
