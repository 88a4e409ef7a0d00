import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** A registry for one server: tests open several servers in one process, and they would share prom-client's default one. */
export function metricsRegistry({ service, version }: { service: string; version: string }): Registry {
  const registry = new Registry();
  new Gauge({
    name: "intermission_build_info",
    help: "Always 1; the labels are the service and its versions.",
    labelNames: ["service", "version", "node"],
    registers: [registry],
  }).set({ service, version, node: process.version }, 1);
  return registry;
}

/** Adds metrics of the process: memory, CPU, event loop, garbage collection. Only for `main.ts`: they cannot be stopped. */
export function countProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}
