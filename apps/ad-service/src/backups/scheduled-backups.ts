import { spawn } from "node:child_process";
import { join } from "node:path";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { Logger } from "@intermission/server/logger";
import { Gauge, type Registry } from "prom-client";
import { datedBackupsIn, readSeal } from "./sealed-folder.ts";

interface ScheduledBackups extends BackgroundLoop {
  /** For `/readyz`: why the last backup failed. */
  warning(): string | undefined;
}

interface BackupSchedule {
  readonly folder: string;
  readonly everyHours: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Pick<Logger, "info" | "error">;
  readonly registry: Registry;
}

const RETRY_MS = 15 * 60_000;
/** A backup would slow down the start. */
const FIRST_IN_MS = 5000;
const HOUR_MS = 3_600_000;

/**
 * Makes a backup in BACKUP_DIR whenever the last one is older than BACKUP_EVERY_HOURS, also across restarts. The command line
 * makes it in a process of its own: its memory is free afterwards, and a stop of the server may kill it at any moment.
 */
export function startScheduledBackups(schedule: BackupSchedule): ScheduledBackups {
  const { folder, everyHours, log, registry } = schedule;
  new Gauge({
    name: "intermission_backup_interval_seconds",
    registers: [registry],
    help: "BACKUP_EVERY_HOURS, where the server makes its backups by itself.",
  }).set((everyHours * HOUR_MS) / 1000);
  let fault: string | undefined;
  const loop = startLoop({
    everyMs: RETRY_MS,
    firstInMs: FIRST_IN_MS,
    async round(stopping) {
      const ageMs = await ageOfNewestIn(folder);
      // A backup from the future, after a jump of the clock, counts as old.
      if (ageMs >= 0 && ageMs < everyHours * HOUR_MS) {
        fault = undefined;
        return everyHours * HOUR_MS - ageMs;
      }
      const summary = await runBackup(schedule, stopping);
      if (summary === undefined) return undefined;
      fault = undefined;
      log.info(summary, "a backup is made");
      return everyHours * HOUR_MS;
    },
    onFault(error) {
      fault = `the last backup to ${folder} failed, and is repeated every 15 minutes: ${error instanceof Error ? error.message : error}`;
      log.error({}, fault);
    },
  });
  return { ...loop, warning: () => fault };
}

/** Milliseconds since when the newest backup in the folder is complete; Infinity if there is none. */
async function ageOfNewestIn(folder: string): Promise<number> {
  const newest = (await datedBackupsIn(folder)).whole.at(-1);
  const seal = newest === undefined ? undefined : await readSeal(join(folder, newest)).catch(() => undefined);
  return seal === undefined ? Number.POSITIVE_INFINITY : Date.now() - Date.parse(seal.completeUntil);
}

/** The sentence of the command; of an error that it does not know, the line that names it and not its stack. */
function reasonIn(errors: string): string | undefined {
  const lines = errors.trim().split("\n");
  const sentence = lines.findLast((line) => line.startsWith("ads: ")) ?? lines.find((line) => /Error\b/.test(line));
  return sentence?.replace(/^ads: /, "");
}

/** Undefined if the server stops meanwhile. */
async function runBackup({ environment }: BackupSchedule, stopping: AbortSignal): Promise<object | undefined> {
  const program = process.argv[1]?.replace(/main\.([jt]s)$/, "cli.$1") ?? "";
  const child = spawn(process.execPath, [...process.execArgv, program, "--json", "backup"], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    signal: stopping,
    // An interrupted backup never counts, and the next one removes what it left.
    killSignal: "SIGKILL",
  });
  let [answer, errors] = ["", ""];
  child.stdout.on("data", (chunk) => {
    answer += chunk;
  });
  child.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-4000);
  });
  const code = await new Promise<number | string | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (status, signal) => resolve(status ?? signal));
  });
  if (stopping.aborted) return undefined;
  if (code === 0) return JSON.parse(answer);
  throw new Error(reasonIn(errors) ?? `it ended with ${code}`);
}
