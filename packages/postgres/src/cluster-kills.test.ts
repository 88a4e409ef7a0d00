// @module-tag enlarged
// @module-tag long
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWriter, writerMigrations } from "@intermission/testing/acknowledged-writer";
import { propertySeed } from "@intermission/testing/property-seeds";
import { seededRandom } from "@intermission/testing/seeded-random";
import { copyCluster } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { isRunning, serverOf } from "./cluster-process.ts";
import { openDatabase } from "./open-database.ts";

const migrations = writerMigrations;
const isLong = process.env.LONG_TESTS === "true";
/** By hand: these numbers take ten minutes. */
const isFull = process.env.FULL_LENGTH === "true";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kills-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The processes, except ours, whose command line names the folder. */
function processesOn(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && isRunning(Number(name)))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        // It has just ended.
        return "";
      }
    })
    .filter((words) => words.includes(folder));
}

const victims = ["node", "postgres", "both"] as const;

test("whatever is killed at any moment under load, the next start works by itself, and nothing acknowledged is lost", async () => {
  const dataDirectory = temporaryFolder();
  await copyCluster(dataDirectory);
  const random = seededRandom(propertySeed);
  const acknowledged: Record<"one" | "two", number[]> = { one: [], two: [] };
  const rounds = isFull ? 100 : isLong ? 30 : 9;
  for (let round = 1; round <= rounds; round++) {
    const writers = {
      one: startWriter(dataDirectory, "one", round * 1_000_000),
      two: startWriter(dataDirectory, "two", round * 1_000_000),
    };
    const all = [writers.one, writers.two];
    const opened = await Promise.all(all.map(({ open }) => open));
    expect(all.map(({ words }) => words())).toEqual(["", ""]);
    expect(opened).toEqual([true, true]);
    const pid = serverOf(join(dataDirectory, "postgres"))?.pid ?? 0;
    expect(pid).toBeGreaterThan(0);
    // Once both have written, at any moment.
    const written = () => Math.min(...all.map((writer) => writer.acknowledged().length));
    await expect.poll(written, { timeout: 60_000, interval: 5 }).toBeGreaterThan(5);
    await new Promise((resolve) => setTimeout(resolve, random.next() * 400));
    const victim = victims[round % victims.length];
    if (victim !== "node") process.kill(pid, "SIGKILL");
    if (victim !== "postgres") for (const { child } of all) child.kill("SIGKILL");
    // Half of the next starts come at once, while processes of the last one still end.
    if (victim !== "both" || random.next() < 0.5) await Promise.all(all.map(({ ended }) => ended));
    if (victim === "postgres") expect(await Promise.all(all.map(({ ended }) => ended))).toEqual([3, 3]);
    for (const schema of ["one", "two"] as const) acknowledged[schema].push(...writers[schema].acknowledged());
  }
  for (const schema of ["one", "two"] as const) {
    const database = await openDatabase({ dataDirectory, schema, migrations, isExisting: true });
    const rows = await database.run<{ id: number }>({ name: "", text: "select id from things" }, []);
    await database.close();
    const stored = new Set(rows.map(({ id }) => id));
    expect(acknowledged[schema].length).toBeGreaterThan(rounds * 5);
    expect(acknowledged[schema].filter((id) => !stored.has(id))).toEqual([]);
  }
  await expect.poll(() => processesOn(dataDirectory)).toEqual([]);
}, 900_000);

test("servers and a command line that start at one moment on an empty folder make one cluster and share it", async () => {
  for (let round = 0; round < (isFull ? 50 : isLong ? 12 : 3); round++) {
    const dataDirectory = join(temporaryFolder(), "new");
    const users = ["one", "two", "three"].map((schema) => startWriter(dataDirectory, schema, 0));
    expect(await Promise.all(users.map(({ open }) => open))).toEqual([true, true, true]);
    expect(users.map(({ words }) => words())).toEqual(["", "", ""]);
    const log = readFileSync(join(dataDirectory, "postgres.log"), "utf8");
    expect(log.match(/starting PostgreSQL/g)).toHaveLength(1);
    const pid = serverOf(join(dataDirectory, "postgres"))?.pid ?? 0;
    for (const { child } of users) child.kill("SIGTERM");
    expect(await Promise.all(users.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    expect(isRunning(pid)).toBe(false);
    expect(readdirSync(dataDirectory).filter((name) => name.startsWith("postgres.new"))).toEqual([]);
  }
}, 900_000);
