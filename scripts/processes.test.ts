import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { runCommand, stopCommands } from "./processes.ts";

test("a command in a group of its own ends with what it has started", async () => {
  const lines: string[] = [];
  const onLine = (line: string) => void lines.push(line);
  const ended = runCommand("sh", ["-c", "sleep 600 & echo $!; wait"], { isGroup: true, onLine }).catch(String);
  await expect.poll(() => lines).toHaveLength(1);
  const pid = Number(lines[0]);
  expect(isAlive(pid)).toBe(true);
  stopCommands();
  expect(await ended).toMatch(/sh -c .* failed/);
  for (let tries = 0; isAlive(pid) && tries < 100; tries++) await wait(50);
  expect(isAlive(pid)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
