import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CommandContext, NotReachable, OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { recordOf } from "@intermission/server/command-tables";
import { moveCommands, progressOn, refusing } from "@intermission/server/move-commands";
import { rotateKeyCommand } from "@intermission/server/rotate-key-command";
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
    ["backup /mnt/backups/2026-04-01"],
  )
    .argument("<folder>", "a folder that does not exist yet, best on another disk")
    .action(async (folder: string) => {
      const config = localConfig(context, "backup");
      if (!existsSync(join(config.dataDirectory, "postgres")))
        throw new NotReachable(`${config.dataDirectory} holds no store: set DATA_DIR to the folder of the servers`);
      // Loaded when needed, so that other commands stay fast.
      const { backUp } = await import("./back-up.ts");
      const seal = await refusing(() => backUp(config, folder, progressOn(process.stderr)));
      context.print({ folder, ...summaryOf(seal) }, () => `${recordOf({ folder, ...shown(seal) })}\n\n${keyNote}`);
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
  rotateKeyCommand(program, { print, store });
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
