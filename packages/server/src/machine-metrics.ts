import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type Runner, statement } from "@intermission/postgres/open-database";
import { Gauge, type Registry } from "prom-client";
import { rarelyRead } from "./metrics.ts";

/** In `DATA_DIR`; its time is that of the last backup. `pnpm ads backup` writes it, and any other way to back up may touch it. */
export const LAST_BACKUP_FILE = "last-backup";

interface StoreFigures {
  readonly bytes: number;
  readonly archivedAt: number | null;
}

const figuresOfStore = statement<StoreFigures>(
  "store.figures",
  `select pg_database_size(current_database())::float8 as bytes,
    (select extract(epoch from last_archived_time) from pg_stat_archiver)::float8 as "archivedAt"`,
);

/** What runs out or goes wrong below a node: room, clocks, backups. What cannot be read is absent rather than wrong. */
export function machineMetrics(
  registry: Registry,
  {
    database,
    dataDirectory,
    now,
  }: { readonly database: Pick<Runner, "run">; readonly dataDirectory: string; readonly now: () => Date },
): void {
  const registers = [registry];
  const figures = rarelyRead(async () => (await database.run(figuresOfStore, []))[0]);
  const unlessAway = () => figures().catch(() => undefined);
  new Gauge({
    name: "intermission_database_bytes",
    registers,
    help: "The size of the database.",
    async collect() {
      this.reset();
      const bytes = (await unlessAway())?.bytes;
      if (bytes === undefined) this.remove();
      else this.set(bytes);
    },
  });
  const room = { intermission_disk_free_bytes: "bavail", intermission_disk_size_bytes: "blocks" } as const;
  for (const name of ["intermission_disk_free_bytes", "intermission_disk_size_bytes"] as const)
    new Gauge({
      name,
      registers,
      help: "The disk of DATA_DIR: what this user may still write, and all of it.",
      async collect() {
        const disk = await statfs(dataDirectory).catch(() => undefined);
        if (disk === undefined) this.remove();
        else this.set(disk[room[name]] * disk.bsize);
      },
    });
  new Gauge({
    name: "intermission_last_backup_timestamp_seconds",
    registers,
    labelNames: ["kind"],
    help: "When the last backup was made, by the file last-backup in DATA_DIR, and when PostgreSQL last archived its log.",
    async collect() {
      this.reset();
      const file = await stat(join(dataDirectory, LAST_BACKUP_FILE)).catch(() => undefined);
      if (file !== undefined) this.set({ kind: "backup" }, file.mtimeMs / 1000);
      const archivedAt = (await unlessAway())?.archivedAt ?? undefined;
      if (archivedAt !== undefined) this.set({ kind: "archived log" }, archivedAt);
    },
  });
  new Gauge({
    name: "intermission_clock_timestamp_seconds",
    registers,
    labelNames: ["clock"],
    help: "The time by this node's clock, and by that of the database.",
    collect() {
      this.set({ clock: "node" }, Date.now() / 1000);
      this.set({ clock: "database" }, now().getTime() / 1000);
    },
  });
}
