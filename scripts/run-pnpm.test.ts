// @module-tag long
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./processes.ts";

/** Nothing listens there. npm asks an unreachable registry again after 10 s and 60 s. */
const nowhere = "http://127.0.0.1:9/";
const withoutNetwork = { npm_config_proxy: nowhere, npm_config_https_proxy: nowhere, npm_config_noproxy: "" };

test("./pnpm, once it has run, does not wait for a registry that cannot be reached", () => {
  const run = (env: NodeJS.ProcessEnv) =>
    spawnSync(join(root, "pnpm"), ["--version"], {
      cwd: root,
      env: { ...process.env, ...env },
      encoding: "utf8",
      timeout: 50_000,
    });
  const { stdout: version } = run({});
  expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
  const started = performance.now();
  expect(run(withoutNetwork)).toMatchObject({ status: 0, stdout: version });
  expect(performance.now() - started).toBeLessThan(30_000);
});
