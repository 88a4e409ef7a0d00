import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimDataFolder, socketPathOf } from "./control-socket.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "claim-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const claimer = `
  import { claimDataFolder } from ${JSON.stringify(join(import.meta.dirname, "control-socket.ts"))};
  const claim = await claimDataFolder(process.argv[1]);
  console.log(claim.outcome);
  if (claim.outcome === "claimed") setInterval(() => {}, 1000);
`;

/** A process that claims the folder and holds it until it is killed. Resolves with what became of its claim. */
function startClaimer(): { outcome: Promise<string>; kill(): Promise<void> } {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", claimer, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    outcome: new Promise((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

test("a folder that is held is refused, and free again after release", async () => {
  const first = await claimDataFolder(folder);
  if (first.outcome !== "claimed") throw new Error(first.outcome);
  expect(statSync(first.socketPath).mode & 0o777).toBe(0o600);
  expect(await claimDataFolder(folder)).toEqual({ outcome: "in-use", folder });
  await first.release();
  const second = await claimDataFolder(folder);
  expect(second.outcome).toBe("claimed");
  if (second.outcome === "claimed") await second.release();
});

test("the socket of a killed process is replaced, and of processes that start at once exactly one wins", async () => {
  const dead = startClaimer();
  expect(await dead.outcome).toBe("claimed");
  await dead.kill();
  const rivals = Array.from({ length: 5 }, startClaimer);
  const outcomes = await Promise.all(rivals.map((rival) => rival.outcome));
  await Promise.all(rivals.map((rival) => rival.kill()));
  expect(outcomes.filter((outcome) => outcome === "claimed")).toHaveLength(1);
}, 30_000);

test("connections that come before the server serves are kept for it", async () => {
  const claim = await claimDataFolder(folder);
  if (claim.outcome !== "claimed") throw new Error(claim.outcome);
  const { createServer } = await import("node:http");
  const http = createServer((_request, response) => response.end("here"));
  const answer = new Promise<string>((resolve, reject) => {
    const outgoing = request({ socketPath: claim.socketPath, path: "/" }, (response) => {
      response.once("data", (chunk) => resolve(String(chunk)));
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
  setTimeout(() => claim.serve((socket) => http.emit("connection", socket)), 50);
  expect(await answer).toBe("here");
  http.closeAllConnections();
  await claim.release();
});

test("a folder whose socket's address would be too long gets a short one elsewhere", () => {
  const path = socketPathOf(join(folder, "x".repeat(120)));
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
  expect(path).not.toContain("xxx");
});
