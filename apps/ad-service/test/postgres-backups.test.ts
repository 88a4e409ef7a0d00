// @module-tag long
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { askServer, startDumpableCluster } from "@intermission/testing/copy-database";
import { findDebianPrograms } from "@intermission/testing/temporary-cluster";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";

const script = join(import.meta.dirname, "../../../deploy/back-up-postgres.sh");
const programs = findDebianPrograms();
if (programs === undefined) console.log("!!! deploy/back-up-postgres.sh was not run: PostgreSQL of Debian is missing");

test.skipIf(programs === undefined)(
  "the dumps of a database server are kept by number, checked, and restored; a failed or interrupted one never counts",
  { timeout: 120_000 },
  async () => {
    const cluster = await startDumpableCluster();
    onTestFinished(cluster.stop);
    const [source, target] = [await createServerDatabase(cluster.url), await createServerDatabase(cluster.url)];
    await askServer(source.url, "create table things as select 7 as id");
    const root = mkdtempSync(join(tmpdir(), "dumps-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const folder = join(root, "dumps");
    const run = (words: readonly string[], env: NodeJS.ProcessEnv = { DATABASE_URL: source.url, DATA_DIR: root }) =>
      spawnSync("sh", [script, ...words], {
        env: { PATH: `${programs}:${process.env.PATH}`, ...env },
        encoding: "utf8",
        cwd: root,
      });
    const dumps = () => readdirSync(folder).filter((name) => name.endsWith(".dump"));

    expect(run(["--check", root])).toMatchObject({ status: 1, stderr: expect.stringMatching(/has no dump/) });
    for (let made = 0; made < 3; made++) {
      // Their names are seconds.
      if (made > 0) await wait(1100);
      expect(run([folder, "2"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/Z\.dump\n$/) });
    }
    const kept = dumps();
    expect(kept).toHaveLength(2);
    expect(existsSync(join(root, "last-backup"))).toBe(true);
    expect(run(["--check", folder])).toMatchObject({ status: 0, stdout: expect.stringMatching(/ is whole, of 20/) });

    writeFileSync(join(folder, "2026-01-01T00-00-00Z.dump.partial"), "half");
    const failed = run([folder, "1"], { DATABASE_URL: "postgres://missing@127.0.0.1:1/missing" });
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringMatching(/pg_dump failed: no backup was made/) });
    expect(dumps()).toEqual(kept);

    // As `docker compose exec`, which works only in the folder of its compose.yaml.
    const composed = { DATABASE_URL: source.url, THROUGH: join(root, "in-start-folder") };
    writeFileSync(composed.THROUGH, `#!/bin/sh\ntest "$PWD" = ${root} && exec "$@"\n`, { mode: 0o755 });
    expect(run([folder, "2"], composed)).toMatchObject({ status: 0 });

    const newest = join(folder, dumps().at(-1) ?? "");
    execFileSync(join(programs ?? "", "pg_restore"), ["--no-owner", `--dbname=${target.url}`, newest]);
    expect(await askServer(target.url, "select id from things")).toEqual([{ id: 7 }]);

    utimesSync(newest, 0, 0);
    expect(run(["--check", folder])).toMatchObject({ status: 1, stderr: expect.stringMatching(/older than 36 hours/) });
    writeFileSync(newest, readFileSync(newest).subarray(0, -1));
    expect(run(["--check", folder])).toMatchObject({ status: 1, stderr: expect.stringMatching(/is damaged/) });
  },
);
