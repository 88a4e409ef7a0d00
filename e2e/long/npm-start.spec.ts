import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demoSecrets } from "../../scripts/demo-secrets.ts";
import { freePort, root } from "../../scripts/processes.ts";
import { companionApi } from "../kill/companion-api.ts";
import { expect, newDataDirectory, test } from "../stack.ts";

// Includes a start, a build and restarts, on a machine that runs other specs at the same time.
test.setTimeout(300_000);

test("npm start restarts a server that was killed, and no data are lost; its link opens the console, which is built meanwhile", async ({
  page,
}) => {
  // The other test makes the stores.
  const started = await npmStart(await newDataDirectory());
  try {
    await started.says(/Intermission runs/);
    // The page may say that it is being built; it reloads with what follows the #.
    await page.goto(started.consoleLink());
    await page.locator("#content h1").waitFor({ timeout: 120_000 });
    await started.says(/The console is there/);
    const secrets = demoSecrets(started.dataDirectory);
    const api = companionApi(started.apiUrl, secrets.backendApiKey);
    const first = await api.createCode("1001");
    if (first.outcome !== "created") throw new Error(first.reason);
    const statusOf = (code: string) =>
      fetch(`${started.adServiceUrl}/client/v1/codes/${code}`, {
        headers: { authorization: `Bearer ${secrets.adApiToken}` },
      });
    const before = await (await statusOf(first.code)).json();

    process.kill(started.pidOf("ad-service"), "SIGTRAP");
    await started.says(/The ad-service ended by itself \(killed by SIGTRAP\); it is restarted in 0\.5 s/);
    await started.says(/The ad-service serves again/);
    expect(await (await statusOf(first.code)).json()).toEqual(before);

    process.kill(started.pidOf("api"), "SIGKILL");
    await started.says(/The api ended by itself \(killed by SIGKILL\); it is restarted in 0\.5 s/);
    await started.says(/The api serves again/);
    expect(await api.createCode("1002")).toMatchObject({ outcome: "created" });

    const pids = started.pids();
    started.process.kill("SIGTERM");
    expect(await started.ended).toBe(0);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  } finally {
    await started.discard();
  }
});

test("npm start gives up on a server that exits repeatedly, reports it and exits", async () => {
  const started = await npmStart(mkdtempSync(join(tmpdir(), "intermission-npm-start-")));
  try {
    await started.says(/Intermission runs/);
    // Each that starts is killed, until it is given up: on a slow machine five starts may take more than a minute.
    const killed = new Set<number>();
    await expect(() => {
      const pid = started.pidOf("demo-bot", killed);
      if (pid > 0) process.kill(pid, "SIGKILL");
      killed.add(pid);
      expect(started.output()).toMatch(/The demo-bot ended 5 times within 60 s.*killed by SIGKILL/);
    }).toPass({ intervals: [100], timeout: 240_000 });
    const pids = started.pids();
    expect(await started.ended).toBe(1);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  } finally {
    await started.discard();
  }
});

/** The real `npm start`, on free ports and with a temporary folder. */
async function npmStart(dataDirectory: string) {
  const ports = { DEMO_BOT_PORT: await freePort(), AD_SERVICE_PORT: await freePort(), API_PORT: await freePort() };
  const variables = Object.entries(ports).map(([name, port]) => [name, String(port)]);
  const child = spawn("npm", ["start"], {
    cwd: root,
    env: { ...process.env, ...Object.fromEntries(variables), DATA_DIR: dataDirectory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const listen = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const pids = () => descendantsOf(child.pid ?? 0).map(({ pid }) => pid);
  return {
    process: child,
    dataDirectory,
    adServiceUrl: `http://127.0.0.1:${ports.AD_SERVICE_PORT}`,
    apiUrl: `http://127.0.0.1:${ports.API_PORT}`,
    ended,
    pids,
    output: () => output,
    consoleLink: () => /http:\/\/\S+\/console\/\S+/.exec(output)?.[0] ?? "",
    says: (words: RegExp) => expect.poll(() => output, { timeout: 180_000 }).toMatch(words),
    /** Returns 0 if no process other than those in `except` runs. */
    pidOf(name: string, except = new Set<number>()): number {
      const servers = descendantsOf(child.pid ?? 0).filter(({ command }) =>
        command.endsWith(`apps/${name}/src/main.ts`),
      );
      return servers.find(({ pid }) => !except.has(pid))?.pid ?? 0;
    },
    async discard() {
      child.kill("SIGTERM");
      await ended;
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

function descendantsOf(pid: number): { pid: number; command: string }[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const all = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []);
  const children = all.filter(([, , parent]) => Number(parent) === pid);
  return children.flatMap(([, id, , command = ""]) => [{ pid: Number(id), command }, ...descendantsOf(Number(id))]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
