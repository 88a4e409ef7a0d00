import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CommandContext, NotReachable, OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { limitUpTo } from "@intermission/server/command-options";
import { recordOf } from "@intermission/server/command-tables";
import { moveCommands, progressOn, refusing } from "@intermission/server/move-commands";
import { rotateKeyCommand } from "@intermission/server/rotate-key-command";
import { upgradeCommand } from "@intermission/server/upgrade-command";
import type { Command } from "commander";
import type { CommandConfig } from "../config.ts";
import type { Seal } from "./sealed-folder.ts";

export interface BackupContext extends Pick<CommandContext<never>, "print" | "isJson"> {
  /** The settings of this machine, since these commands work on its files. */
  config(): CommandConfig;
}

export function backupCommands(program: Command, context: BackupContext): void {
  withExamples(
    program
      .command("backup")
      .description(
        "copy the embedded database and the videos to a new folder, while the servers run, and check the copy",
      ),
    [
      "backup /mnt/backups/before-update",
      "backup /mnt/backups --keep 7",
      "backup /mnt/backups --check --max-age-hours 30",
    ],
  )
    .argument(
      "[folder]",
      "a folder that does not exist yet, best on another disk; otherwise BACKUP_DIR and BACKUP_KEEP",
    )
    .option("--keep <number>", "make a dated backup inside of the folder, and keep so many", limitUpTo(1000))
    .option("--check", "make none: compare the newest backup in the folder with its checksums, and its age")
    .option(
      "--max-age-hours <hours>",
      "with --check: an older backup is a fault, 1.5 BACKUP_EVERY_HOURS by default",
      limitUpTo(100_000),
    )
    .action(async (named: string | undefined, options: BackupCommandOptions) => {
      const config = localConfig(context, "backup");
      const { folder, keep } = targetOf(config, named, options);
      if (options.check === true)
        return check(context, folder, options.maxAgeHours ?? config.backups.everyHours * LATE);
      if (!existsSync(join(config.dataDirectory, "postgres")))
        throw new NotReachable(`${config.dataDirectory} holds no store: set DATA_DIR to the folder of the servers`);
      const onProgress = progressOn(process.stderr);
      // Loaded when needed, so that other commands stay fast.
      if (keep === undefined) {
        const { backUp } = await import("./back-up.ts");
        const seal = await refusing(() => backUp(config, folder, { onProgress }));
        return context.print(
          { folder, ...summaryOf(seal) },
          () => `${recordOf({ folder, ...shown(seal) })}\n\n${keyNote}`,
        );
      }
      const { backUpAndKeep } = await import("./kept-backups.ts");
      const made = await refusing(() => backUpAndKeep(config, { folder, keep, now: new Date(), onProgress }));
      const { seal, removed } = made;
      context.print({ folder: made.folder, ...summaryOf(seal), removed }, () => {
        const rows = {
          folder: made.folder,
          ...shown(seal),
          ...(removed.length > 0 && { removed: removed.join(", ") }),
        };
        return `${recordOf(rows)}\n\n${keyNote}`;
      });
    });

  withExamples(
    program
      .command("restore")
      .description("restore a backup to DATA_DIR, where nothing is yet, and check that it opens"),
    ["restore /mnt/backups/2026-04-01"],
  )
    .argument("<folder>", "a folder that backup made")
    .action(async (folder: string) => {
      const config = localConfig(context, "restore");
      const { restore } = await import("./restore.ts");
      const seal = await refusing(() => restore(config, folder, progressOn(process.stderr)));
      const { dataDirectory } = config;
      context.print({ dataDirectory, ...summaryOf(seal) }, () => {
        return `${recordOf({ dataDirectory, ...shown(seal) })}\n\nStart the servers with the ENCRYPTION_KEY that they had.`;
      });
    });

  const { print } = context;
  const store = async () => {
    const { movableStore } = await import("./movable-store.ts");
    return movableStore(configOfMachine(context, "it"));
  };
  moveCommands(program, { contents: "all rows and the videos", print, store });
  upgradeCommand(program, { print, store, program: "ads" });
  rotateKeyCommand(program, { print, store });
}

interface BackupCommandOptions {
  readonly keep?: number;
  readonly check?: boolean;
  readonly maxAgeHours?: number;
}

/** As the alert IntermissionBackupOld: a backup is late by half of its interval; without one it is daily. */
const LATE = 1.5;

function targetOf(
  { backups }: CommandConfig,
  named: string | undefined,
  { keep, check, maxAgeHours }: BackupCommandOptions,
): { readonly folder: string; readonly keep: number | undefined } {
  const fault = (message: string) => new OperatorRefusal(400, "BAD_REQUEST", message);
  if (check === true && keep !== undefined) throw fault("--check makes no backup: leave out --keep");
  if (check !== true && maxAgeHours !== undefined) throw fault("--max-age-hours belongs to --check");
  const folder = named ?? backups.folder;
  if (folder === undefined)
    throw fault("name a folder for the backup, such as ads backup /mnt/backups --keep 7, or set BACKUP_DIR");
  return { folder, keep: keep ?? (named === undefined ? backups.keep : undefined) };
}

async function check({ print }: BackupContext, folder: string, maxAgeHours: number): Promise<void> {
  const { checkBackup } = await import("./kept-backups.ts");
  const onProgress = progressOn(process.stderr);
  const { seal, ...checked } = await refusing(() => checkBackup(folder, { maxAgeHours, now: new Date(), onProgress }));
  print({ ...checked, ...summaryOf(seal) }, () => {
    const { ageHours, backups, incomplete } = checked;
    return `${recordOf({
      folder: checked.folder,
      age: `${ageHours.toFixed(1)} hours`,
      ...shown(seal),
      backups: String(backups),
      ...(incomplete.length > 0 && {
        incomplete: `${incomplete.join(", ")}: interrupted; the next backup --keep removes those that end in .partial`,
      }),
    })}\n\nEvery file has its checksum.`;
  });
}

const keyNote =
  "The backup does not contain the settings. Keep ENCRYPTION_KEY elsewhere: without it the bots' tokens are lost.";

function localConfig({ config }: BackupContext, command: "backup" | "restore"): CommandConfig {
  const read = configOfMachine({ config }, command);
  if (read.databaseUrl !== undefined) {
    const [program, example] =
      command === "backup"
        ? ["pg_dump", 'pg_dump --format=custom --file=intermission.dump "$DATABASE_URL"']
        : ["pg_restore", 'pg_restore --dbname="$DATABASE_URL" intermission.dump'];
    throw new OperatorRefusal(
      400,
      "BAD_REQUEST",
      `${command} is for the embedded database, but DATABASE_URL names a server: use that server's own means or ${program} (${example}), and copy MEDIA_DIR or the bucket`,
    );
  }
  return read;
}

/** The settings of this machine, for a command that works on the store itself. */
function configOfMachine({ config }: Pick<BackupContext, "config">, command: string): CommandConfig {
  const read = config();
  if (read.url === undefined) return read;
  throw new OperatorRefusal(
    400,
    "BAD_REQUEST",
    `${command} works on the store that DATA_DIR or DATABASE_URL names: run it on that machine, without --url and ADS_URL`,
  );
}

function summaryOf({ completeUntil, schemas, videos, files, bytes }: Seal) {
  return { completeUntil, schemas, videos, files, bytes };
}

function shown({ completeUntil, schemas, videos, bytes }: Seal) {
  return {
    "complete until": completeUntil,
    ...Object.fromEntries(schemas.map(({ schema, tables, rows }) => [schema, `${tables} tables, ${rows} rows`])),
    videos: videos.kind === "folder" ? `${videos.files} files` : `not inside: they are in the bucket ${videos.bucket}`,
    size: `${(bytes / 1_000_000).toFixed(1)} MB`,
  };
}
