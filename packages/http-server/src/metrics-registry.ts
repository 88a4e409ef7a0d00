import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** A registry of this server alone: tests open several servers in one process, and prom-client's own is the process's. */
export function metricsRegistry({ service, version }: { service: string; version: string }): Registry {
  const registry = new Registry();
  new Gauge({
    name: "intermission_build_info",
    help: "Always 1; the labels say what runs.",
    labelNames: ["service", "version", "node"],
    registers: [registry],
  }).set({ service, version, node: process.version }, 1);
  return registry;
}

/** Memory, CPU, event loop and garbage collection of the process. Their observers run until it ends: for `main.ts` alone. */
export function countProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}
