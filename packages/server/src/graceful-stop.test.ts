import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";

const source = (name: string) => JSON.stringify(join(import.meta.dirname, name));

/** The script of a server in a process of its own; `stop` is the body of its stop function. */
const server = (stop: string, options: string) => `
  import { onStopSignal } from ${source("graceful-stop.ts")};
  import { healthRoutes } from ${source("health.ts")};
  import { createHttpServer } from ${source("http-server.ts")};
  import { createLogger } from ${source("logger.ts")};
  const logger = createLogger({ level: "silent", name: "test" });
  const app = createHttpServer({ logger });
  const draining = { hasBegun: false };
  healthRoutes(app, { check: async () => {}, isStopping: () => draining.hasBegun });
  app.get("/taken", (_request, reply) => {
    reply.hijack();
    reply.raw.end("taken");
  });
  const hang = () => new Promise(() => {});
  onStopSignal({ logger, draining, ${options} }, async () => { ${stop} });
  console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
`;

let children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
});

async function start(stop: string, options = "") {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", server(stop, options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const exited = new Promise<number | string | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal)),
  );
  const url = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim())),
  );
  return { url, exited, signal: (name: NodeJS.Signals) => child.kill(name) };
}

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s stops the server, and the process exits with 0",
  async (signal) => {
    const process = await start("await app.close();");
    process.signal(signal);
    expect(await process.exited).toBe(0);
  },
);

test("the process exits with 1 when its stop fails", { tags: "long" }, async () => {
  const process = await start('throw new Error("no");');
  process.signal("SIGTERM");
  expect(await process.exited).toBe(1);
});

test("the process exits with 1 when its stop exceeds its time limit", async () => {
  const process = await start("await hang();", "timeoutMs: 300");
  process.signal("SIGTERM");
  expect(await process.exited).toBe(1);
});

test("an immediate second signal is ignored, and one after a second ends the process with 1", {
  tags: "long",
}, async () => {
  const process = await start("await hang();", "timeoutMs: 50_000");
  process.signal("SIGINT");
  process.signal("SIGINT");
  let isGone = false;
  void process.exited.then(() => {
    isGone = true;
  });
  await wait(1200);
  expect(isGone).toBe(false);
  process.signal("SIGINT");
  expect(await process.exited).toBe(1);
});

test("while it drains, answers close the connections that clients hold open, so that these move to other nodes", {
  tags: "long",
}, async () => {
  const process = await start("await app.close();", "drainMs: 2000");
  const connectionOf = async (path: string) => (await fetch(process.url + path)).headers.get("connection");
  // Also where no hook runs: an address that cannot be read, and an answer that its handler writes itself, as of an upload.
  const paths = ["/healthz", "/unknown", "/%", "/taken"];
  expect(await Promise.all(paths.map(connectionOf))).toEqual(paths.map(() => "keep-alive"));
  process.signal("SIGTERM");
  await expect.poll(() => Promise.all(paths.map(connectionOf))).toEqual(paths.map(() => "close"));
  expect(await process.exited).toBe(0);
});

test("while it drains, the server serves all requests but is not ready; then it stops", { tags: "long" }, async () => {
  const process = await start("await app.close();", "drainMs: 2000");
  const status = async (path: string) => (await fetch(process.url + path, { headers: { connection: "close" } })).status;
  expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 200]);
  process.signal("SIGTERM");
  await expect.poll(() => status("/readyz")).toBe(503);
  expect(await status("/healthz")).toBe(200);
  expect(await process.exited).toBe(0);
});
