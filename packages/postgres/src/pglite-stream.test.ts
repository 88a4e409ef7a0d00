// @module-tag long
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import { statement } from "./open-database.ts";

const one = statement<{ one: number }>("one", "select 1 as one");

test("a loop that queries again after each answer does not starve timers and sockets", async () => {
  const { database, dispose } = await openTestDatabase({ kind: "embedded", schema: "shop", migrations: {} });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const until = performance.now() + 1000;
  let answers = 0;
  while (performance.now() < until) answers += (await database.run(one, [])).length;
  clearInterval(timer);
  await dispose();
  expect(answers).toBeGreaterThan(turns);
  expect(turns).toBeGreaterThan(3);
});
