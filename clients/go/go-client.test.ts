// @module-tag long
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lineOf, randomCases, receiverCases } from "@intermission/testing/receiver-cases";
import { expect, onTestFinished, test } from "vitest";
import { verifyWebhook } from "../../packages/publisher/src/verify-webhook.ts";
import { findGo } from "../../scripts/find-programs.ts";

const go = findGo();
if ("missing" in go) console.log(`!!! The Go client was not tested: ${go.missing}`);

test.skipIf("missing" in go)("the Go client passes its tests, with the webhooks of every other receiver", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "intermission-go-"));
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }));
  const cases = await Promise.all(
    [...receiverCases, ...randomCases()].map(async ([name, expected, webhook]) => {
      const example = JSON.parse(lineOf(webhook));
      const verified = await verifyWebhook(Buffer.from(example.body, "base64"), example.headers, example.tokens, {
        now: new Date(example.now * 1000),
      });
      return { name, expected, ...example, ...(verified.outcome === "not-signed" && verified) };
    }),
  );
  const file = join(scratch, "receiver-cases.json");
  writeFileSync(file, JSON.stringify(cases));
  const env = {
    ...process.env,
    RECEIVER_CASES: file,
    MISBEHAVING_HANDLERS: fileURLToPath(import.meta.resolve("@intermission/testing/misbehaving-handlers.json")),
    USER_IDS: fileURLToPath(import.meta.resolve("@intermission/testing/user-ids.json")),
    GOFLAGS: "-mod=mod",
    GOPROXY: "off",
    GOCACHE: join(scratch, "go"),
  };
  const run = (words: readonly string[], cwd = import.meta.dirname) => {
    const { status, stdout, stderr } = spawnSync("path" in go ? go.path : "", words, {
      cwd,
      env,
      encoding: "utf8",
    });
    return { status, output: `${stdout}${stderr}` };
  };
  expect(run(["vet", "./..."])).toEqual({ status: 0, output: "" });
  const tested = run(["test", "-v", "./..."]);
  expect(tested.status, tested.output).toBe(0);
  expect(tested.output).not.toContain("--- SKIP");
  expect(tested.output.match(/^--- PASS/gm)?.length).toBeGreaterThan(6);
  const example = run(["test", "-v", "./..."], join(import.meta.dirname, "../../examples/go"));
  expect(example.output).toMatch(/^--- PASS: TestALineThatIsNoEntry/m);
  expect(example.status, example.output).toBe(0);
});
