// @module-tag long
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { starveProcess } from "@intermission/testing/starve-process";
import { expect, onTestFinished, test } from "vitest";
import { openCliFixture } from "./fixtures/cli-fixture.ts";

test("a server makes its backups by itself, and says after a kill for lack of memory that it was not shut down and why, but nothing after SIGTERM", {
  timeout: 180_000,
}, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  const backups = mkdtempSync(join(tmpdir(), "own-backups-"));
  onTestFinished(() => rmSync(backups, { recursive: true, force: true }));
  // Without a page it would not be ready.
  const page = mkdtempSync(join(tmpdir(), "page-"));
  onTestFinished(() => rmSync(page, { recursive: true, force: true }));
  writeFileSync(join(page, "index.html"), "<!doctype html>");
  // ADS_URL is for people's commands: the server's own backup is of its store.
  const env = { MINIAPP_DIR: page, BACKUP_DIR: backups, BACKUP_KEEP: "2", ADS_URL: "http://127.0.0.1:1" };
  const readiness = async (): Promise<unknown> => (await fetch(`${fixture.address}/readyz`)).json();

  const killed = await fixture.startServer(env);
  expect(killed.ended.out).not.toContain("ended without a shutdown");
  await expect.poll(() => killed.ended.out, { timeout: 120_000, interval: 100 }).toContain("a backup is made");
  const made = readdirSync(backups).filter((name) => name.startsWith("2"));
  expect(made).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/)]);
  const checked = await fixture.adsProcess(["--json", "backup", backups, "--check", "--max-age-hours", "1"]);
  expect(checked).toMatchObject({ code: 0 });
  expect(JSON.parse(checked.out)).toMatchObject({ folder: join(backups, made[0] ?? ""), backups: 1, incomplete: [] });
  const starving = starveProcess(killed.child.pid ?? 0);
  if (starving === undefined) {
    console.log(
      "!!! No process was killed for lack of memory: control groups of memory need root. It was killed by -9.",
    );
    killed.child.kill("SIGKILL");
  }
  // Each body takes memory.
  const busy = setInterval(() => {
    fetch(`${fixture.address}/client/v1/codes`, { method: "POST", body: Buffer.alloc(900_000) }).catch(() => {});
  }, 100);
  onTestFinished(() => clearInterval(busy));
  expect(await killed.end).toMatchObject({ code: null });
  clearInterval(busy);
  starving?.remove();

  const stopped = await fixture.startServer(env);
  expect(stopped.ended.out).toContain("the last run ended without a shutdown at about 20");
  if (starving !== undefined)
    expect(stopped.ended.out).toMatch(
      /the kernel has ended (a process|\d+ processes) for lack of memory \(oom_kill in /,
    );
  expect(await readiness()).toMatchObject({ warning: expect.stringMatching(/the last run ended without a shutdown/) });
  stopped.child.kill("SIGTERM");
  expect(await stopped.end).toMatchObject({ code: 0 });

  const last = await fixture.startServer(env);
  expect(last.ended.out).not.toContain("ended without a shutdown");
  expect(await readiness()).not.toHaveProperty("warning");
  last.child.kill("SIGTERM");
  expect(await last.end).toMatchObject({ code: 0 });
});
