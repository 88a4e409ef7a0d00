import { expect, test, vi } from "vitest";
import { startLoop } from "./background-loop.ts";
import { metricsRegistry } from "./metrics.ts";
import { nodeMetrics } from "./node-metrics.ts";

test("a scrape tells a loop that fails from one that works, and requests that wait for a connection", async () => {
  const failing = startLoop({
    everyMs: 1,
    round: async () => {
      throw new Error("away");
    },
    onFault: () => {},
  });
  const working = startLoop({ everyMs: 3_600_000, round: async () => undefined, onFault: () => {} });
  await vi.waitFor(() => expect(failing.health.failed).toBeGreaterThan(1));
  await failing.stop();
  await working.stop();

  const registry = metricsRegistry({ service: "test", version: "0" });
  const poolState = () => ({ open: 10, idle: 1, waiting: 3 });
  nodeMetrics(registry, { loops: { sweep: failing, statistics: working }, poolState, poolSize: 10 });
  for (const text of [await registry.metrics(), await registry.metrics()]) {
    expect(text).toContain(`intermission_loop_rounds_total{loop="sweep",outcome="failed"} ${failing.health.failed}\n`);
    expect(text).toContain('intermission_loop_rounds_total{loop="sweep",outcome="done"} 0\n');
    expect(text).toContain('intermission_loop_rounds_total{loop="statistics",outcome="done"} 1\n');
    expect(text).not.toContain('intermission_loop_last_done_timestamp_seconds{loop="sweep"}');
    expect(text).toMatch(/intermission_loop_last_done_timestamp_seconds\{loop="statistics"\} \d{10}\.\d+\n/);
    expect(text).toContain('intermission_database_connections{state="busy"} 9\n');
    expect(text).toContain("intermission_database_waiting_requests 3\n");
  }
});
