/**
 * Kills the ad service and the companion API with SIGKILL at varying steps of an event's way into the ledger, while people
 * earn and spend; then verifies that no event was lost and none was paid twice.
 *
 *   node e2e/kill/random-kills.ts [--runs 1000] [--store embedded|postgres] [--seed 1] [--block 100]
 */
import { parseArgs } from "node:util";
import { verifyRecords } from "./verify-records.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    store: { type: "string", default: "embedded" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    block: { type: "string", default: "100" },
  },
});

await withStore(values.store, ({ databaseUrl, dataDirectory }) =>
  verifyRecords({
    databaseUrl,
    dataDirectory,
    adServices: 1,
    apis: 1,
    runs: Number(values.runs),
    block: Number(values.block),
    seed: Number(values.seed),
    name: `one node of each on ${values.store}`,
    disturbances: [],
  }),
);
