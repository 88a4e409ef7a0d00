// @module-tag enlarged
// @module-tag long
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWriter, writerMigrations } from "@intermission/testing/acknowledged-writer";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "./open-database.ts";

const run = (program: string, ...words: string[]) => execFileSync(program, words, { encoding: "utf8" }).trim();
const schema = "cut";

/**
 * A disk whose power can be cut: ext4 in a file on an XFS, both by loop devices. A reflink of that file is what the disk held
 * at one moment, without what was only in the memory of the machine.
 */
function openDisk() {
  const folder = mkdtempSync(join(tmpdir(), "power-"));
  const undo: (() => void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  onTestFinished(() => {
    for (const step of undo.reverse()) step();
  });
  const mount = (image: string, name: string) => {
    const place = join(folder, name);
    mkdirSync(place, { recursive: true });
    run("mount", "-o", "loop", image, place);
    return {
      place, // Lazily: the shell that watches the users may hold a file a moment longer.
      unmount: () => void run("umount", "--lazy", place),
    };
  };
  const host = join(folder, "host.img");
  run("truncate", "-s", "4G", host);
  run("mkfs.xfs", "-q", "-m", "reflink=1", host);
  const xfs = mount(host, "host");
  undo.push(xfs.unmount);
  const image = join(xfs.place, "disk.img");
  run("truncate", "-s", "1G", image);
  run("mkfs.ext4", "-q", "-F", image);
  const disk = mount(image, "disk");
  undo.push(disk.unmount);
  return {
    dataDirectory: join(disk.place, "data"),
    /** Opens what the disk holds now, as after a power cut, and returns the stored ids. */
    async idsAfterCut(): Promise<Set<number>> {
      const copy = join(xfs.place, "cut.img");
      run("cp", "--reflink=always", image, copy);
      const cut = mount(copy, "cut");
      try {
        const database = await openDatabase({
          dataDirectory: join(cut.place, "data"),
          schema,
          migrations: writerMigrations,
          isExisting: true,
        });
        const rows = await database.run<{ id: number }>({ name: "", text: "select id from things" }, []);
        await database.close();
        return new Set(rows.map(({ id }) => id));
      } finally {
        cut.unmount();
        rmdirSync(cut.place);
        rmSync(copy);
      }
    },
  };
}

const lacking = ["mkfs.xfs", "mkfs.ext4", "losetup"].find((name) => spawnSync(name, ["-V"]).error !== undefined);
const reason =
  process.getuid?.() !== 0 || spawnSync("losetup", ["-f"]).status !== 0
    ? "power cuts need root and loop devices"
    : lacking && `power cuts need ${lacking}: apt-get install xfsprogs e2fsprogs`;

async function cut(times: number, { fsync = true } = {}): Promise<{ acknowledged: number; lost: number }> {
  const disk = openDisk();
  const database = await openDatabase({ dataDirectory: disk.dataDirectory, schema, migrations: writerMigrations });
  if (!fsync)
    for (const text of ["alter system set fsync = off", "select pg_reload_conf()"])
      await database.run({ name: "", text }, []);
  const writer = startWriter(disk.dataDirectory, schema, 1);
  let acknowledged: number[] = [];
  let lost = 0;
  try {
    expect(await writer.open).toBe(true);
    for (let time = 0; time < times; time++) {
      // Once it has written more, at any moment.
      const before = acknowledged.length;
      await expect
        .poll(() => writer.acknowledged().length, { timeout: 60_000, interval: 5 })
        .toBeGreaterThan(before + 10);
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
      acknowledged = writer.acknowledged();
      const stored = await disk.idsAfterCut();
      lost += acknowledged.filter((id) => !stored.has(id)).length;
    }
  } finally {
    writer.child.kill("SIGKILL");
    await writer.ended;
    await database.close();
  }
  return { acknowledged: acknowledged.length, lost };
}

test("a power cut loses nothing that was acknowledged", async (context) => {
  if (reason !== undefined) return context.skip(reason);
  // 2.5 s each; FULL_LENGTH is set by hand.
  const times = process.env.FULL_LENGTH === "true" ? 200 : process.env.LONG_TESTS === "true" ? 50 : 5;
  const { acknowledged, lost } = await cut(times);
  expect(acknowledged).toBeGreaterThan(times * 10);
  expect(lost).toBe(0);
}, 1_500_000);

test("the same power cuts show what is lost without fsync", async (context) => {
  if (reason !== undefined) return context.skip(reason);
  // The cluster of a disk without fsync may also be damaged beyond opening.
  const { lost } = await cut(5, { fsync: false }).catch(() => ({ lost: Number.POSITIVE_INFINITY }));
  expect(lost).toBeGreaterThan(0);
}, 300_000);
