import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ended, startCommandHost } from "@intermission/http-server/host-commands";
import type { SmallDisk } from "@intermission/postgres/small-disk";
import { copyMigratedStore } from "@intermission/postgres/test-database";
import { migrations } from "./migrations.ts";

export type CliStage = Awaited<ReturnType<typeof openCliStage>>;

/**
 * Real processes: the server, and the command line beside it, on a data folder of their own, or on `disk`. For tests.
 */
export async function openCliStage(disk?: Pick<SmallDisk, "folder" | "enter">) {
  const operatorToken = randomBytes(32).toString("hex");
  const encryptionKey = randomBytes(32).toString("base64");
  const dataDir = disk?.folder ?? (await mkdtemp(join(tmpdir(), "intermission-cli-")));
  const port = await freePort();

  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const base = { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir };
  let host: ReturnType<typeof startCommandHost> | undefined;

  function start(script: string, words: readonly string[], env: NodeJS.ProcessEnv) {
    const environment = { ...base, ...env };
    const [program, ...before] = [...(disk?.enter ?? []), process.execPath];
    const child = spawn(program, [...before, join(import.meta.dirname, script), ...words], { env: environment });
    const ended: Ended = { code: null, out: "", err: "" };
    child.stdout.on("data", (chunk) => {
      ended.out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      ended.err += chunk;
    });
    const end = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ ...ended, code })));
    return { child, ended, end };
  }

  return {
    operatorToken,
    encryptionKey,
    dataDir,
    port,
    address: `http://127.0.0.1:${port}`,
    /** Runs a command in the process that this stage keeps for commands. */
    ads(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
      host ??= startCommandHost(join(import.meta.dirname, "cli.ts"), base);
      return host.run(words, env);
    },
    /** Runs a command in a process of its own. */
    adsProcess: (words: readonly string[], env: NodeJS.ProcessEnv = {}) => start("cli.ts", words, env).end,
    /** Returns when the server listens, or has ended. */
    async startServer(
      env: NodeJS.ProcessEnv = {},
    ): Promise<{ child: ChildProcess; ended: Ended; end: Promise<Ended> }> {
      const variables = {
        ...{ MODE: "demo", PORT: String(port), ENCRYPTION_KEY: encryptionKey, OPERATOR_TOKEN: operatorToken },
      };
      const store = join(dataDir, "ad-service/postgres");
      const isMissing = disk === undefined && !env.DATABASE_URL && !env.DATA_DIR && !existsSync(store);
      if (isMissing) await copyMigratedStore(store, { schema: "ad_service", migrations });
      const server = start("main.ts", [], { ...variables, ...env });
      const isOver = server.end.then(() => true);
      while (!server.ended.out.includes('"msg":"listening"')) {
        if (await Promise.race([isOver, new Promise<false>((resolve) => setTimeout(resolve, 50, false))])) break;
      }
      return server;
    },
    async close() {
      await host?.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port");
  return address.port;
}
