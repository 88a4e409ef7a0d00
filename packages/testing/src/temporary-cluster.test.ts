// @module-tag long
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { clusterFolders, startTemporaryCluster } from "./temporary-cluster.ts";

const starter = `
  import { startTemporaryCluster } from ${JSON.stringify(join(import.meta.dirname, "temporary-cluster.ts"))};
  const cluster = await startTemporaryCluster({ fsync: false });
  console.log(cluster.url);
`;

const answers = async (url: string) => {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  return client.connect().then(
    () => client.query("show fsync").then(({ rows }) => client.end().then(() => rows[0].fsync)),
    () => undefined,
  );
};
const soon = { timeout: 20_000 };

test("a cluster ends with the process that started it, even if that is killed, and leaves no folder behind", async () => {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", starter], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data).trim())));
  expect(await answers(url)).toBe("off");
  const folder = clusterFolders().find((one) => existsSync(join(one, `.s.PGSQL.${new URL(url).port}`)));
  if (folder === undefined) throw new Error("the cluster has no folder");
  child.kill("SIGKILL");
  await expect.poll(() => answers(url), soon).toBeUndefined();
  await expect.poll(() => existsSync(folder), soon).toBe(false);
}, 60_000);

test("the next start removes the folder of a dead owner and keeps that of a running one", async () => {
  const [dead, living] = [mkdtempSync("/tmp/intermission-postgres-"), mkdtempSync("/tmp/intermission-postgres-")];
  const { pid } = spawnSync(process.execPath, ["--version"]);
  writeFileSync(join(dead, "owner.pid"), String(pid));
  writeFileSync(join(living, "owner.pid"), String(process.pid));
  const cluster = await startTemporaryCluster();
  try {
    expect(existsSync(dead)).toBe(false);
    expect(existsSync(living)).toBe(true);
    expect(await answers(cluster.url)).toBe("on");
    await cluster.stop();
    expect(await answers(cluster.url)).toBeUndefined();
  } finally {
    for (const folder of [dead, living]) rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
