import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../migrations.ts";
import { listNodes, startReportingNode } from "./nodes.ts";

test("nodes that run are listed with their versions, and one that is stopped leaves the list at once", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(() => store.dispose());
  const { database } = store;
  await database.run(
    {
      name: "",
      text: `insert into nodes (node_id, name, version, started_at, seen_at)
        values ('lost', 'c:8701', '1.0.0', now() - interval '3 days', now() - interval '25 hours')`,
    },
    [],
  );
  const faults: unknown[] = [];
  const log = { error: (facts: unknown) => faults.push(facts) };
  const first = startReportingNode({ database, name: "a:8701", version: "1.0.0", log });
  const second = startReportingNode({ database, name: "b:8701", version: "1.1.0", log });
  const names = async () => (await listNodes(database)).map(({ name, version }) => `${name} ${version}`).sort();
  await expect.poll(names, { timeout: 20_000 }).toEqual(["a:8701 1.0.0", "b:8701 1.1.0"]);
  await first.stop();
  expect(await names()).toEqual(["b:8701 1.1.0"]);
  await second.stop();
  expect(await names()).toEqual([]);
  expect(faults).toEqual([]);
});
