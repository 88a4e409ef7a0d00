/**
 * Like random-kills.ts, with three ad services and two companion APIs on one PostgreSQL, which crashes and restarts during
 * the runs; later the nodes' connections to it are cut for ten seconds, and finally they stall for ten seconds.
 *
 *   node e2e/kill/many-nodes.ts [--runs 300] [--seed 1] [--block 100]
 */
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openTcpProxy } from "./tcp-proxy.ts";
import { verifyRecords } from "./verify-records.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    block: { type: "string", default: "100" },
  },
});

await withStore("postgres", async ({ cluster, dataDirectory }) => {
  if (cluster === undefined) throw new Error("there is no PostgreSQL to share");
  const address = new URL(cluster.url);
  const proxy = await openTcpProxy({ targets: [Number(address.port)] });
  address.port = String(proxy.port);
  const forTenSeconds = async (begin: () => void) => {
    begin();
    await wait(10_000);
    proxy.restore();
  };
  try {
    return await verifyRecords({
      databaseUrl: address.href,
      dataDirectory,
      adServices: 3,
      apis: 2,
      runs: Number(values.runs),
      block: Number(values.block),
      seed: Number(values.seed),
      name: "three ad services and two APIs on postgres",
      disturbances: [
        { name: "the database crashes and restarts", begin: cluster.restart },
        {
          name: "the nodes' connections to the database are cut for 10 s",
          begin: () => forTenSeconds(proxy.cut),
        },
        {
          name: "the nodes' connections to the database stall for 10 s",
          begin: () => forTenSeconds(proxy.stall),
        },
      ],
    });
  } finally {
    await proxy.close();
  }
});
