/**
 * Two nodes behind Caddy with the file of `deploy/proxy/compose.Caddyfile` as it stands: its names and ports are real on the
 * machine of its own on which `deploy-files.test.ts` runs this.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { root } from "./processes.ts";

/** Caddy makes its keys, and asks the system to trust them: tens of seconds on a busy machine. */
const WITHIN_MS = 50_000;

/** A node of the ad service, as far as a proxy sees it: it says its name, and when it stops it fails /readyz first. */
async function openNode(name: string, host: string) {
  const node = { isReady: true };
  const server = createServer((incoming, response) => {
    response.statusCode = incoming.url === "/readyz" && !node.isReady ? 503 : 200;
    response.end(name);
  });
  // Caddy has the same port for its other addresses.
  await new Promise<void>((resolve) => server.listen({ port: 8701, host, reusePort: true }, resolve));
  return node;
}

let cookie = "";

/** Which node answers a path; "" while none does. Caddy signs the name itself. */
function nodeOf(path: string, kept = ""): Promise<string> {
  return new Promise((resolve) => {
    const options = { host: process.env.ADS_HOST, path, headers: { cookie: kept }, rejectUnauthorized: false };
    const asking = request(options, async (answer) => {
      cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? cookie;
      let body = "";
      for await (const chunk of answer) body += chunk;
      resolve(answer.statusCode === 200 ? body : "");
    });
    asking.on("error", () => resolve("")).end();
  });
}

async function until(isMet: (node: string) => boolean, ask: () => Promise<string>): Promise<string> {
  for (const end = Date.now() + WITHIN_MS; Date.now() < end; await wait(50)) {
    const node = await ask();
    if (isMet(node)) return node;
  }
  throw new Error(`Caddy did not do so within ${WITHIN_MS / 1000} s`);
}

const nodes = { first: await openNode("first", "127.0.0.2"), second: await openNode("second", "127.0.0.3") };
const sample = join(root, "deploy/proxy/compose.Caddyfile");
const caddy = spawn("caddy", ["run", "--config", sample, "--adapter", "caddyfile"], {
  stdio: ["ignore", "ignore", "inherit"],
});
try {
  const upload = "/operator/v1/uploads/0123";
  await until(Boolean, () => nodeOf(upload));
  const node = await nodeOf(upload, cookie);
  const parts = Array.from({ length: 20 }, (_, part) => (part === 19 ? "/operator/v1/creatives/uploaded" : upload));
  for (const part of parts) assert.equal(await nodeOf(part, cookie), node, "all parts of an upload reach one node");
  const viewers = await Promise.all(Array.from({ length: 40 }, () => nodeOf("/player/v1/sessions", cookie)));
  assert.deepEqual(new Set(viewers), new Set(["first", "second"]), "viewers reach both nodes");
  const [gone, left] = node === "first" ? (["first", "second"] as const) : (["second", "first"] as const);
  nodes[gone].isReady = false;
  await until(
    (answering) => answering === left,
    () => nodeOf(upload, cookie),
  );
  console.log("as expected");
} finally {
  caddy.kill();
}
process.exit(0);
