import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { claimOrFindServer } from "./command-line.ts";
import { claimDataFolder, socketPathOf } from "./data-folder.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "claim-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const claimer = `
  import { claimDataFolder } from ${JSON.stringify(join(import.meta.dirname, "data-folder.ts"))};
  const claim = await claimDataFolder(process.argv[1]);
  console.log(claim.outcome);
  if (claim.outcome === "claimed") setInterval(() => {}, 1000);
`;

/** Starts a process that claims a folder and holds it until it is killed. `outcome` resolves with the outcome of the claim. */
function startClaimer(of = folder, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", claimer, of], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    outcome: new Promise<string>((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))),
    signal: (name: NodeJS.Signals) => child.kill(name),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

test("a command that waits for a process that does not answer says so, and names a socket that was removed", {
  tags: "long",
}, async () => {
  const owner = startClaimer();
  onTestFinished(() => owner.kill());
  expect(await owner.outcome).toBe("claimed");
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const times = { waitMs: 1000, sayAfterMs: 100 };
  await expect(claimOrFindServer(folder, times)).rejects.toThrow(/does not answer: stop it, or try again later/);
  rmSync(join(folder, "server.sock"));
  await expect(claimOrFindServer(folder, times)).rejects.toThrow(/socket was removed, .*server\.sock: start it again/);
  expect(said.mock.calls).toEqual([1, 2].map(() => [expect.stringMatching(/does not answer yet; trying again/)]));
});

test("a claimed folder is refused to others until its release", async () => {
  const first = await claimDataFolder(folder);
  if (first.outcome !== "claimed") throw new Error(first.outcome);
  expect(statSync(first.socketPath).mode & 0o777).toBe(0o600);
  expect(await claimDataFolder(folder)).toEqual({ outcome: "in-use", folder });
  await first.release();
  const second = await claimDataFolder(folder);
  expect(second.outcome).toBe("claimed");
  if (second.outcome === "claimed") await second.release();
});

test("the socket of a killed process is replaced, and of processes that start at the same time exactly one claims the folder", async () => {
  const dead = startClaimer();
  expect(await dead.outcome).toBe("claimed");
  await dead.kill();
  const rivals = Array.from({ length: 5 }, () => startClaimer());
  const outcomes = await Promise.all(rivals.map((rival) => rival.outcome));
  await Promise.all(rivals.map((rival) => rival.kill()));
  expect(outcomes.filter((outcome) => outcome === "claimed")).toHaveLength(1);
}, 30_000);

test("connections that arrive before the server is ready are queued for it", async () => {
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

test("a stuck process keeps its folder until it exits", async () => {
  const stuck = startClaimer();
  expect(await stuck.outcome).toBe("claimed");
  stuck.signal("SIGSTOP");
  expect(await claimDataFolder(folder)).toEqual({ outcome: "in-use", folder });
  // The process does not answer and its socket is removed: the lock alone decides.
  rmSync(socketPathOf(folder));
  expect(await claimDataFolder(folder)).toEqual({ outcome: "in-use", folder });
  await stuck.kill();
  const next = await claimDataFolder(folder);
  expect(next.outcome).toBe("claimed");
  if (next.outcome === "claimed") await next.release();
}, 30_000);

test("a folder with a long path has one owner and one socket, even if processes have different temporary folders", async () => {
  const long = join(folder, "x".repeat(120));
  const [mine, yours] = [join(folder, "mine"), join(folder, "yours")];
  for (const path of [mine, yours]) mkdirSync(path);
  const owner = startClaimer(long, { TMPDIR: mine });
  expect(await owner.outcome).toBe("claimed");
  const rival = startClaimer(long, { TMPDIR: yours });
  expect(await rival.outcome).toBe("in-use");
  await rival.kill();
  const socketPath = socketPathOf(long);
  expect(dirname(dirname(socketPath))).toBe(mine);
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  await new Promise<void>((resolve, reject) => connect(socketPath, resolve).once("error", reject).unref());
  await owner.kill();
  const next = await claimDataFolder(long);
  expect(existsSync(dirname(socketPath))).toBe(false);
  if (next.outcome !== "claimed") throw new Error(next.outcome);
  expect(next.socketPath).toBe(socketPathOf(long));
  await next.release();
  expect(existsSync(dirname(next.socketPath))).toBe(false);
  expect(readdirSync(long)).toEqual(["owner.lock"]);
}, 30_000);
