import { stripVTControlCharacters } from "node:util";
import { runCommand } from "./processes.ts";
import { Problem } from "./say.ts";
import type { timeParts } from "./time-parts.ts";

/** Runs a command of a part; its lines are shown with the part's name. */
export type RunShown = (command: string, words: readonly string[], env?: NodeJS.ProcessEnv) => Promise<unknown>;

export interface Part {
  readonly name: string;
  /** How many processors it uses while it runs, on average, as measured: less than 1 where it mostly waits. */
  readonly processors: number;
  run(shown: RunShown): Promise<unknown>;
}

interface Limits {
  /** The processors that the parts which run at the same time may use. */
  readonly processors: number;
  /** Later than this no part starts. */
  readonly startWithinMs: number;
  /** What still runs then is stopped by `stop`. */
  readonly endWithinMs: number;
}

interface Surroundings {
  readonly show?: (line: string) => void;
  /** Ends the commands of the parts that run. */
  readonly stop: () => void;
  /** Once it is aborted, as by Ctrl-C, what runs is stopped and no part starts. */
  readonly signal?: AbortSignal;
}

/** So many lines hold the failures that vitest and Playwright list at the end of a run, without the tests that passed. */
const SHOWN_LINES = 100;
const PASSED = /^\s*[✓↓]/u;
/** A failed test in the lists of vitest and Playwright. */
const FAILED = /^\s*(?:FAIL |\d+\) \[).*$/;
const NAMED_TESTS = 20;

/**
 * Runs each part in its place, beside others where the processors suffice. All run, whatever fails; the last lines of each
 * part that failed are shown again at the end. Throws if any failed, or if the limits left any out.
 */
export async function runParts(
  parts: readonly Part[],
  { timed }: Pick<ReturnType<typeof timeParts>, "timed">,
  limits: Limits,
  { show = console.log, stop, signal }: Surroundings,
): Promise<void> {
  const beganAt = performance.now();
  const waiting = [...parts];
  const running = new Map<Part, Promise<void>>();
  const failures: { readonly name: string; readonly lines: readonly string[]; readonly tests: ReadonlySet<string> }[] =
    [];
  const isOver = () => signal?.aborted === true || performance.now() - beganAt >= limits.startWithinMs;
  signal?.addEventListener("abort", stop);

  const start = async (part: Part): Promise<void> => {
    const lines: string[] = [];
    const tests = new Set<string>();
    try {
      await timed(part.name, () => part.run(shownBy(part, { lines, tests, show })));
      show(`✓ ${part.name}`);
    } catch (error) {
      const nextStep = error instanceof Problem ? [error.nextStep] : [];
      failures.push({ name: part.name, lines: [...lines, String(error), ...nextStep], tests });
      show(`✗ ${part.name}: ${error}`);
    }
  };

  const stopping = setTimeout(() => {
    show(`\n✗ stopped after ${minutes(limits.endWithinMs)}: ${[...running.keys()].map(({ name }) => name).join(", ")}`);
    stop();
  }, limits.endWithinMs);
  try {
    while (waiting.length + running.size > 0) {
      const next = isOver() ? undefined : nextPart(waiting, [...running.keys()], limits.processors);
      if (next === undefined && running.size === 0) break;
      if (next === undefined) {
        await Promise.race(running.values());
        continue;
      }
      waiting.splice(waiting.indexOf(next), 1);
      const work = start(next).finally(() => running.delete(next));
      running.set(next, work);
    }
  } finally {
    clearTimeout(stopping);
    signal?.removeEventListener("abort", stop);
  }

  for (const { name, lines } of failures) show(`\n── failed: ${name}; its last lines:\n${lines.join("\n")}`);
  show(`\nparts: ${parts.length - failures.length - waiting.length} passed, ${failures.length} failed`);
  const faults = [
    // The names come last: some places keep only the end of what a run prints.
    ...failures.map(({ name, tests }) => [`${name} failed`, ...[...tests].slice(0, NAMED_TESTS)].join("\n    ")),
    ...waiting.map(({ name }) =>
      signal?.aborted ? `${name} was not started` : `${name} was not started within ${minutes(limits.startWithinMs)}`,
    ),
  ];
  if (faults.length > 0) throw new Problem(faults.join("\n✗ "), "The last lines of each part that failed stand above.");
}

/** The first that the processors suffice for; what needs more than all of them runs alone. */
export function nextPart(waiting: readonly Part[], running: readonly Part[], processors: number): Part | undefined {
  if (running.length === 0) return waiting[0];
  const left = processors - running.reduce((sum, part) => sum + part.processors, 0);
  return waiting.find((part) => part.processors <= left);
}

function shownBy(
  { name }: Part,
  { lines, tests, show }: { lines: string[]; tests: Set<string>; show: (line: string) => void },
): RunShown {
  return (command, words, env = {}) =>
    runCommand(command, words, {
      env,
      onLine(line) {
        const plain = stripVTControlCharacters(line);
        if (!PASSED.test(plain)) lines.push(line);
        if (lines.length > SHOWN_LINES) lines.shift();
        if (FAILED.test(plain)) tests.add(plain.trim().replaceAll(/\s+/g, " "));
        show(`${name} │ ${line}`);
      },
    });
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} minutes`;
}
