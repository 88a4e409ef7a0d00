import { mkdirSync, readFileSync, rmSync, statSync, utimes, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Logger } from "./logger.ts";

/** What is known of a run that ended without a shutdown. */
interface BrokenRun {
  /** The last time at which it is known to have run. */
  readonly aliveAt: Date;
  /** When the machine was started, if that was after `aliveAt`. */
  readonly machineStartedAt: Date | undefined;
  /** The counter that says that the kernel has ended processes for lack of memory since that run began; undefined if none does. */
  readonly memoryKills: { readonly source: string; readonly count: number } | undefined;
}

interface FollowedRun {
  /** For `/readyz`, in the first hour. */
  warning(): string | undefined;
  /** Leaves the mark of this run. Called once it serves: a start that is refused is no broken run. */
  begin(): void;
  /** Called when this run ends in order. */
  end(): void;
}

const ALIVE_EVERY_MS = 5000;
const WARN_FOR_MS = 3_600_000;

const counters = z.record(z.string(), z.number());

/**
 * Says in one line of the log, and in `/readyz`, that the run before did not end in order, and leaves a mark by which the next
 * start knows how this one ended. Nodes that share a data folder have marks by their ports. A folder that cannot be written,
 * as in a container, has none.
 */
export function followRun(
  { dataFolder, port }: { readonly dataFolder: string; readonly port: number },
  log: Pick<Logger, "warn">,
): FollowedRun {
  const mark = join(dataFolder, `running-${port}.json`);
  const broken = readBrokenRun(mark);
  const sentence = broken && sentenceOf(broken);
  if (sentence !== undefined) log.warn({}, sentence);
  const startedAt = performance.now();
  let touching: NodeJS.Timeout | undefined;
  return {
    warning: () => (performance.now() - startedAt < WARN_FOR_MS ? sentence : undefined),
    begin() {
      try {
        mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
        writeFileSync(mark, `${JSON.stringify(memoryKillCounters())}\n`, { mode: 0o600 });
      } catch {
        return;
      }
      touching = setInterval(() => utimes(mark, new Date(), new Date(), () => {}), ALIVE_EVERY_MS).unref();
    },
    end() {
      clearInterval(touching);
      rmSync(mark, { force: true });
    },
  };
}

/** States only what is known: a start of the machine, an end by the kernel, or neither. */
export function sentenceOf({ aliveAt, machineStartedAt, memoryKills }: BrokenRun): string {
  const begin = `the last run ended without a shutdown at about ${aliveAt.toISOString()}`;
  if (machineStartedAt !== undefined) return `${begin}; the machine was started at ${machineStartedAt.toISOString()}`;
  if (memoryKills === undefined)
    return `${begin}: it was killed, or it crashed; the end of its log and the system's (journalctl -k) may say why`;
  const { source, count } = memoryKills;
  return (
    `${begin}; since it began, the kernel has ended ${count === 1 ? "a process" : `${count} processes`} for lack of memory ` +
    `(oom_kill in ${source}): allow more memory (MemoryMax of the systemd unit, mem_limit in compose.yaml, limits.memory in Kubernetes, ` +
    "or a larger machine), or set a smaller EMBEDDED_BUFFERS_MB"
  );
}

function readBrokenRun(mark: string): BrokenRun | undefined {
  let aliveAt: Date;
  let before: Record<string, number> = {};
  try {
    aliveAt = statSync(mark).mtime;
    // A power cut may leave an empty file: then only its time is known.
    before = counters.safeParse(JSON.parse(readFileSync(mark, "utf8") || "{}")).data ?? {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) return undefined;
    aliveAt = statSync(mark).mtime;
  }
  const started = new Date(Date.now() - uptime() * 1000);
  return {
    aliveAt,
    machineStartedAt: started > aliveAt ? started : undefined,
    memoryKills: newKills(before, memoryKillCounters()),
  };
}

/** The first counter that is larger than before. One that is smaller belongs to a new group, and says nothing. */
export function newKills(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): BrokenRun["memoryKills"] {
  for (const [source, count] of Object.entries(after)) {
    const growth = count - (before[source] ?? Number.NaN);
    if (growth > 0) return { source, count: growth };
  }
  return undefined;
}

/**
 * By the file that has it: the control group of this process, its parent, whose counter survives a restart by systemd, and
 * the machine, whose counter a container sees too. None outside of Linux.
 */
function memoryKillCounters(): Record<string, number> {
  const found: Record<string, number> = {};
  for (const path of [...groupFiles(), "/proc/vmstat"]) {
    const [, count] = /^oom_kill (\d+)$/m.exec(textOf(path)) ?? [];
    if (count !== undefined) found[path] = Number(count);
  }
  return found;
}

function groupFiles(): string[] {
  const [, group] = /^0::(\/.*)$/m.exec(textOf("/proc/self/cgroup")) ?? [];
  if (group === undefined) return [];
  return [...new Set([group, dirname(group)])].map((path) => join("/sys/fs/cgroup", path, "memory.events"));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
