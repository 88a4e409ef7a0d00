import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { followRun, newKills, sentenceOf } from "./last-run.ts";

const aliveAt = new Date("2026-11-28T10:00:00Z");

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "last-run-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a run that ended in order, and a first one, are not mentioned; a broken one is, once", () => {
  const [place, lines] = [{ dataFolder: temporaryFolder(), port: 1 }, [] as string[]];
  const follow = (port = 1) => {
    const run = followRun({ ...place, port }, { warn: (_facts: unknown, line?: string) => lines.push(line ?? "") });
    run.begin();
    return run;
  };
  const first = follow();
  expect(first.warning()).toBeUndefined();
  // Another node in the same folder.
  expect(follow(2).warning()).toBeUndefined();
  first.end();
  expect(follow().warning()).toBeUndefined();
  const afterCrash = follow();
  expect(afterCrash.warning()).toMatch(
    /^the last run ended without a shutdown at about .*: it was killed, or it crashed/,
  );
  expect(lines).toEqual([afterCrash.warning()]);
  afterCrash.end();
  expect(follow().warning()).toBeUndefined();
});

test("after a power cut only the start of the machine is named, also where the mark is empty", () => {
  const dataFolder = temporaryFolder();
  const mark = join(dataFolder, "running-1.json");
  for (const text of ["", '{"/proc/vmstat":-5}', "{"]) {
    writeFileSync(mark, text);
    utimesSync(mark, new Date(0), new Date(0));
    const followed = followRun({ dataFolder, port: 1 }, { warn: () => {} });
    followed.end();
    expect(followed.warning()).toMatch(/at about 1970-01-01T00:00:00.000Z; the machine was started at 2\d{3}-/);
    expect(followed.warning()).not.toMatch(/memory/);
  }
});

test("a counter of the kernel that has grown names memory and the settings", () => {
  expect(newKills({ a: 1, b: 0 }, { a: 1, b: 2 })).toEqual({ source: "b", count: 2 });
  // The control group of a new container counts from 0; a counter that was not known says nothing.
  expect(newKills({ a: 3 }, { a: 0, b: 7 })).toBeUndefined();
  const memoryKills = { source: "/proc/vmstat", count: 1 };
  expect(sentenceOf({ aliveAt, machineStartedAt: undefined, memoryKills })).toMatch(
    /2026-11-28T10:00:00.000Z; since it began, the kernel has ended a process for lack of memory \(oom_kill in \/proc\/vmstat\): .*MemoryMax.*EMBEDDED_BUFFERS_MB/,
  );
});
