import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as clientApi from "@intermission/ad-core/client-api";
import vectors from "@intermission/ad-core/vectors.json" with { type: "json" };
import { lineOf, randomCases, receiverCases } from "@intermission/testing/receiver-cases";
import userIds from "@intermission/testing/user-ids.json" with { type: "json" };
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyWebhook } from "../../packages/publisher/src/verify-webhook.ts";
import { findPython } from "../../scripts/find-programs.ts";

/** What the package for TypeScript says about a refused webhook; the Python client must say the same. */
async function messageOfPackage(example: ReturnType<typeof JSON.parse>): Promise<string | null> {
  const body = Buffer.from(example.body, "base64");
  const verified = await verifyWebhook(body, example.headers, example.tokens, { now: new Date(example.now * 1000) });
  return verified.outcome === "not-signed" ? verified.message : null;
}

const MISBEHAVING_HANDLERS = fileURLToPath(import.meta.resolve("@intermission/testing/misbehaving-handlers.json"));

/** The fields of each answer of the client API, and an example: by name. */
const answers = Object.fromEntries(
  Object.entries(clientApi).flatMap(([name, schema]) =>
    name.endsWith("Response") && "shape" in schema
      ? [[name, { fields: Object.keys(schema.shape), example: examplesOf(schema.meta())[0] }]]
      : [],
  ),
);

function examplesOf(meta: Record<string, unknown> | undefined): unknown[] {
  return Array.isArray(meta?.examples) ? meta.examples : [];
}

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "intermission-python-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const python = findPython(["httpx", "fastapi", "pytest"]);
if ("missing" in python) console.log(`!!! The Python client was not tested: ${python.missing}`);

test.skipIf("missing" in python)(
  "the Python client passes its tests, with the webhooks of every other receiver",
  async () => {
    const cases = await Promise.all(
      [...receiverCases, ...randomCases()].map(async ([name, expected, webhook]) => {
        const example = JSON.parse(lineOf(webhook));
        return { name, expected, message: await messageOfPackage(example), ...example };
      }),
    );
    const file = join(scratch, "receiver-cases.json");
    writeFileSync(file, JSON.stringify({ cases, vectors, userIds, answers }));
    const { status, stdout, stderr } = spawnSync("path" in python ? python.path : "", ["-m", "pytest", "-q"], {
      cwd: import.meta.dirname,
      env: { ...process.env, RECEIVER_CASES: file, MISBEHAVING_HANDLERS, PYTHONDONTWRITEBYTECODE: "1" },
      encoding: "utf8",
    });
    expect(status, `${stdout}${stderr}`).toBe(0);
    for (const [, reason] of stdout.matchAll(/^SKIPPED \[\d+\] (.*)$/gm))
      console.log(`!!! Python: not tested: ${reason}`);
    console.log(`Python client: ${stdout.trim().split("\n").at(-1)}`);
  },
);
