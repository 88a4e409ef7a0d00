import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { nextPart, type Part, runParts } from "./run-parts.ts";
import { timeParts } from "./time-parts.ts";

const unlimited = { processors: 2, startWithinMs: 600_000, endWithinMs: 600_000 };

/** Runs them with real commands; returns what was shown, and what the failure said. */
async function run(parts: readonly Part[], limits = unlimited, stop = () => {}) {
  const shown: string[] = [];
  const failure = await runParts(parts, timeParts(), limits, { show: (line) => shown.push(line), stop }).then(
    () => "",
    (error: Error) => error.message,
  );
  return { shown: shown.join("\n"), failure };
}

const commandOf = (name: string, script: string, processors = 1): Part => ({
  name,
  processors,
  run: (shown) => shown(process.execPath, ["-e", script]),
});

test("all parts run, though one fails, and the end shows what failed and how", async () => {
  const { shown, failure } = await run([
    commandOf("first", 'console.log("before the fault"); console.error("the fault"); process.exit(3)', 2),
    commandOf("second", 'console.log("all is well")', 2),
  ]);
  expect(shown).toContain("first │ the fault");
  expect(shown).toContain("second │ all is well");
  const end = shown.slice(shown.indexOf("── failed: first"));
  expect(end).toContain("before the fault");
  expect(end).toContain("the fault");
  expect(end).not.toContain("all is well");
  expect(end).toContain("parts: 1 passed, 1 failed");
  expect(failure).toBe("first failed");
});

test("the very end names the tests that failed, and the lines before it are not those of tests that passed", async () => {
  const lines = [
    "\u001b[32m ✓\u001b[39m a passed test",
    "\u001b[41m FAIL \u001b[49m together  some.test.ts > a test of vitest",
    "  1) [tagged] › e2e/some.spec.ts:3:1 › a flow",
  ];
  const { shown, failure } = await run([
    commandOf("both", `for (const line of ${JSON.stringify(lines)}) console.log(line); process.exit(1)`),
  ]);
  expect(failure).toBe(
    "both failed\n    FAIL together some.test.ts > a test of vitest\n    1) [tagged] › e2e/some.spec.ts:3:1 › a flow",
  );
  const end = shown.slice(shown.indexOf("── failed: both"));
  expect(end.split("\n")).toContain(lines[2]);
  expect(end.split("\n")).not.toContain(lines[0]);
});

test("a program that does not exist fails its part alone", async () => {
  const { shown, failure } = await run([
    { name: "absent", processors: 1, run: (shown) => shown("/no/such/program", []) },
    commandOf("present", ""),
  ]);
  expect(shown).toContain("parts: 1 passed, 1 failed");
  expect(failure).toBe("absent failed");
});

test("only as many parts run at a time as the processors suffice for, and none waits for longer", async () => {
  let used = 0;
  let most = 0;
  const part = (name: string, processors: number): Part => ({
    name,
    processors,
    async run() {
      used += processors;
      most = Math.max(most, used);
      await wait(5);
      used -= processors;
    },
  });
  const parts = [part("a", 1.5), part("b", 1), part("c", 0.5), part("d", 3), part("e", 0.25), part("f", 0.25)];
  const { failure } = await run(parts, { ...unlimited, processors: 2 });
  expect(failure).toBe("");
  // The one that needs more than there are ran alone.
  expect(most).toBe(3);
  const [a, b, c, d] = parts;
  if (!(a && b && c && d)) throw new Error("four parts");
  expect(nextPart([b, c, d], [a], 2)).toBe(c);
  expect(nextPart([b, d], [a], 2)).toBeUndefined();
  expect(nextPart([d, b], [], 2)).toBe(d);
});

test("after the limit no part starts, and those that were left out are a failure with their names", async () => {
  const { shown, failure } = await run([commandOf("late", "")], { ...unlimited, startWithinMs: 0 });
  expect(shown).toContain("parts: 0 passed, 0 failed");
  expect(failure).toBe("late was not started within 0 minutes");
});

test("what runs beyond the end is stopped, and fails", async () => {
  const controller = new AbortController();
  const endless: Part = { name: "endless", processors: 1, run: () => wait(600_000, undefined, controller) };
  const { shown, failure } = await run([endless], { ...unlimited, endWithinMs: 20 }, () => controller.abort());
  expect(shown).toContain("stopped after 0 minutes: endless");
  expect(failure).toBe("endless failed");
});

test("an interruption stops what runs and starts nothing more", async () => {
  const interruption = new AbortController();
  const stopped = new AbortController();
  const parts: Part[] = [
    {
      name: "running",
      processors: 2,
      run() {
        queueMicrotask(() => interruption.abort());
        return wait(600_000, undefined, stopped);
      },
    },
    commandOf("next", "", 2),
  ];
  const surroundings = { show: () => {}, stop: () => stopped.abort(), signal: interruption.signal };
  await expect(runParts(parts, timeParts(), unlimited, surroundings)).rejects.toThrow(
    "running failed\n✗ next was not started",
  );
});
