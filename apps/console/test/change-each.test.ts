import { expect, test } from "vitest";
import { type Changed, changeEach, undoOf } from "../src/campaigns/change-each.ts";

test("after a stop, the request that is under way is finished, and no other one is made", async () => {
  const stop = new AbortController();
  const requested: string[] = [];
  const counts: number[] = [];
  const request = async (item: string) => {
    requested.push(item);
    if (item === "b") stop.abort();
  };
  const result = await changeEach(["a", "b", "c", "d"], request, {
    signal: stop.signal,
    onProgress: (count) => counts.push(count),
  });
  expect(requested).toEqual(["a", "b"]);
  expect(counts).toEqual([1, 2]);
  expect(result).toEqual({ done: ["a", "b"], faults: [], left: 2 });
});

test("one that fails does not keep the others from being changed", async () => {
  const fault = new Error("archived");
  const request = (item: string) => (item === "a" ? Promise.reject(fault) : Promise.resolve());
  expect(await changeEach(["a", "b"], request)).toEqual({ done: ["b"], faults: [fault], left: 0 });
});

const paused = (campaignId: string, pausedBy: Changed["pausedBy"]): Changed => ({
  campaignId,
  name: campaignId,
  status: "paused",
  pausedBy,
});

test("an operator's Undo leaves running what the advertiser had paused", () => {
  const [own, ofAdvertiser] = [paused("own", "operator"), paused("theirs", "advertiser")];
  const asOperator = { isOperator: true };
  expect(undoOf("resume", [own, ofAdvertiser], asOperator)).toEqual({ verb: "pause", campaigns: [own] });
  expect(undoOf("resume", [ofAdvertiser], asOperator)).toBeUndefined();
  expect(undoOf("resume", [ofAdvertiser], { isOperator: false })).toEqual({ verb: "pause", campaigns: [ofAdvertiser] });
  expect(undoOf("archive", [own], asOperator)).toBeUndefined();
  expect(undoOf("pause", [], asOperator)).toBeUndefined();
});
