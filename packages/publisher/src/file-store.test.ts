import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeContract } from "@intermission/testing/store-contract";
import { afterEach, expect, test, vi } from "vitest";
import { fileStore } from "./node.ts";

const folder = mkdtempSync(join(tmpdir(), "intermission-file-store-"));
let files = 0;
const newFile = () => join(folder, `events-${files++}.txt`);
afterEach(() => void vi.restoreAllMocks());
storeContract("a file", async () => ({
  open: ({ maxHandlerMs }) => fileStore(newFile(), { maxHandlerMs }),
}));

const calls = async (store: ReturnType<typeof fileStore>, ...eventIds: string[]) => {
  const handled: string[] = [];
  for (const id of eventIds) await store.once(id, async () => void handled.push(id));
  return handled;
};

test("an event that is sent again after a restart, or to a process that runs beside, is not handled again", async () => {
  const file = newFile();
  const first = fileStore(file);
  const beside = fileStore(file);
  expect(await calls(first, "evt_1", "evt\n2", "evt_1")).toEqual(["evt_1", "evt\n2"]);
  expect(await calls(beside, "evt_1", "evt\n2", "evt_3")).toEqual(["evt_3"]);
  expect(await calls(fileStore(file), "evt_1", "evt\n2", "evt_3", "evt_4")).toEqual(["evt_4"]);
  expect(await calls(first, "evt_4")).toEqual([]);
});

test("a line that a crash cut off is of an event that was not answered, and hides no other one", async () => {
  const file = newFile();
  await calls(fileStore(file), "evt_1");
  appendFileSync(file, '"evt_2');
  expect(await calls(fileStore(file), "evt_2", "evt_3")).toEqual(["evt_2", "evt_3"]);
  expect(await calls(fileStore(file), "evt_1", "evt_2", "evt_3")).toEqual([]);
});

test("an event whose handler rejected is handled again, and what is remembered has a bound", async () => {
  const file = newFile();
  const store = fileStore(file, { maxEvents: 2 });
  await expect(store.once("evt_1", () => Promise.reject(new Error("no chat")))).rejects.toThrow("no chat");
  expect(await calls(store, "evt_1", "evt_2", "evt_3", "evt_4", "evt_5")).toHaveLength(5);
  expect(await calls(fileStore(file, { maxEvents: 2 }), "evt_4", "evt_5", "evt_1")).toEqual(["evt_1"]);
  expect(readFileSync(file, "utf8")).toBe('"evt_4"\n"evt_5"\n"evt_1"\n');
});

test("characters of several bytes are read right wherever the file is read in parts", async () => {
  const file = newFile();
  const ids = Array.from({ length: 20_000 }, (_, index) => `évt_${index}`);
  writeFileSync(file, `${ids.map((id) => JSON.stringify(id)).join("\n")}\n`);
  expect(await calls(fileStore(file), ...ids.slice(0, 50), ...ids.slice(-50), "evt_new")).toEqual(["evt_new"]);
});

test("a file that cannot be opened is named where the store is made", () => {
  expect(() => fileStore(join(folder, "none", "events.txt"))).toThrow("ENOENT");
  expect(() => fileStore("")).toThrow("fileStore needs the name of a file");
  rmSync(folder, { recursive: true });
});
