import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { joinCluster } from "../packages/postgres/src/join-cluster.ts";
import { copyCluster } from "../packages/testing/src/test-database.ts";

async function folderWithStore(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "reset-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await copyCluster(folder);
  for (const name of ["ad-service/media", "api", "backups"]) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ["ad-service/media/a.mp4", "demo-secrets.json", "bot-7000000001.env", "backups/a", "notes.env"])
    writeFileSync(join(folder, name), "x");
  return folder;
}

/** Runs the real program, without a terminal. */
function reset(folder: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    const { PATH } = process.env;
    execFile(
      process.execPath,
      [join(import.meta.dirname, "reset.ts"), ...words],
      { env: { PATH, DATA_DIR: folder, ...env } },
      (error, out, err) => resolve({ code: error?.code ?? 0, out, err }),
    ).stdin?.end("y\n");
  });
}

test("npm run reset removes the store and what belongs to its rows, and nothing else", async () => {
  const folder = await folderWithStore();
  const { code, out } = await reset(folder, ["--yes"]);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`\n  ${join(folder, "postgres")}\n`) });
  const left = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => !/lock/.test(name));
  expect(left.sort()).toEqual(["ad-service", "api", "backups", "backups/a", "notes.env"]);
  // A server makes a new store there.
  const cluster = { mayCreate: true, buffersMegabytes: 16, logger: undefined, onDeath() {} };
  await (await joinCluster({ ...cluster, dataDirectory: folder })).leave();
});

test("npm run reset removes nothing without an answer, with DATABASE_URL, while the store is in use, or behind a link", {
  tags: "long",
}, async () => {
  const folder = await folderWithStore();
  const refusal = async (words: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { code, err } = await reset(folder, words, env);
    expect(code).toBe(1);
    expect(err).not.toMatch(/^\s+at /m);
    expect(existsSync(join(folder, "ad-service/media/a.mp4"))).toBe(true);
    expect(existsSync(join(folder, "postgres/PG_VERSION"))).toBe(true);
    return err;
  };
  expect(await refusal([])).toMatch(/no terminal\.\n {2}Add --yes/);
  expect(await refusal(["--yess"])).toMatch(/--yess.*\n {2}npm run reset -- --help/s);
  expect(await refusal(["--yes"], { DATABASE_URL: "postgres://h/d" })).toMatch(
    /DATABASE_URL is set: .*never a database/,
  );
  const cluster = { mayCreate: false, buffersMegabytes: 16, logger: undefined, onDeath() {} };
  const joined = await joinCluster({ ...cluster, dataDirectory: folder });
  expect(await refusal(["--yes"])).toMatch(/Not removed: servers use the store in .*\n {2}Stop the servers/);
  await joined.leave();
  symlinkSync(folder, join(folder, "postgres.new"));
  expect(await refusal(["--yes"])).toMatch(/postgres\.new is a link/);
  rmSync(join(folder, "postgres.new"));
  expect(await refusal(["--yes"], { DATA_DIR: join(folder, "backups") })).toMatch(/backups has no embedded store/);
});
