import { expect, test } from "vitest";
import { inTurn, type Turns } from "./in-turn.ts";

test("the work of one key runs one at a time in its order of arrival, also after a failure; other keys do not wait", async () => {
  const turns: Turns = new Map();
  const log: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = (name: string, until?: Promise<void>) => async () => {
    log.push(`${name} begins`);
    await until;
    log.push(`${name} ends`);
    return name;
  };
  const failing = inTurn(turns, "a", async () => {
    await first.promise;
    throw new Error("down");
  });
  const waiting = [inTurn(turns, "a", work("second")), inTurn(turns, "a", work("third"))];
  expect(turns.get("a")?.length).toBe(3);
  expect(await inTurn(turns, "b", work("other"))).toBe("other");
  expect(log).toEqual(["other begins", "other ends"]);

  first.resolve();
  await expect(failing).rejects.toThrow("down");
  expect(await Promise.all(waiting)).toEqual(["second", "third"]);
  expect(log.slice(2)).toEqual(["second begins", "second ends", "third begins", "third ends"]);
  expect(turns.size).toBe(0);
});
