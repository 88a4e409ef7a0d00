import { setTimeout as wait } from "node:timers/promises";
import type { DemoStack, ServerName } from "./demo-stack.ts";
import type { Server } from "./processes.ts";
import { Problem } from "./say.ts";

const MAX_ENDS = 5;
const WITHIN_MS = 60_000;
const FIRST_PAUSE_MS = 500;

/**
 * Restarts servers of a stack that exit unexpectedly: after 0.5 s, and after twice as long for each further exit within a
 * minute. A server that exits five times within a minute is not restarted.
 *
 * @param giveUp is called with the message for the person when a server is not restarted.
 * @returns a function that ends the restarts.
 */
export function restartServers(
  stack: Pick<DemoStack, "servers" | "start">,
  giveUp: (problem: Problem) => void,
): () => void {
  const stopping = new AbortController();

  async function keepRunning(name: ServerName, first: Server): Promise<void> {
    let server = first;
    let ends: number[] = [];
    while (!stopping.signal.aborted) {
      const how = await endOf(server);
      if (stopping.signal.aborted) return;
      ends = [...ends.filter((at) => Date.now() - at < WITHIN_MS), Date.now()];
      if (ends.length >= MAX_ENDS) return giveUp(tooManyEnds(name, how, server));
      const pauseMs = FIRST_PAUSE_MS * 2 ** (ends.length - 1);
      console.error(`\n✗ The ${name} ended by itself (${how}); it is restarted in ${pauseMs / 1000} s.`);
      console.error(lastWords(server));
      await wait(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      server = await restart(name);
    }
  }

  async function restart(name: ServerName): Promise<Server> {
    const startedAt = performance.now();
    const ready = stack.start(name);
    const server = stack.servers.get(name);
    if (server === undefined) throw new Error(`the ${name} was not started`);
    await ready.then(
      () => console.error(`✓ The ${name} serves again (${((performance.now() - startedAt) / 1000).toFixed(1)} s).`),
      // It exited again, or takes too long to start: stop it if it still runs, so that this counts as an exit, too.
      () => server.stop(),
    );
    return server;
  }

  for (const [name, server] of stack.servers) {
    keepRunning(name, server).catch((error: unknown) =>
      giveUp(new Problem(String(error), `The ${name} is not restarted.`)),
    );
  }
  return () => stopping.abort();
}

function endOf({ process: { exitCode, signalCode }, process: child }: Server): Promise<string> {
  const describe = (code: number | null, signal: NodeJS.Signals | null) =>
    signal === null ? `exit ${code}` : `killed by ${signal}`;
  if (exitCode !== null || signalCode !== null) return Promise.resolve(describe(exitCode, signalCode));
  return new Promise((resolve) => child.once("exit", (code, signal) => resolve(describe(code, signal))));
}

function tooManyEnds(name: ServerName, how: string, server: Server): Problem {
  return new Problem(
    `The ${name} ended ${MAX_ENDS} times within ${WITHIN_MS / 1000} s, the last time by itself (${how}).\n${lastWords(server)}`,
    "It is not restarted again. Remove the cause, then run npm start: it continues with the same data.",
  );
}

/** Its last output, including lines that are not from the log, such as V8's message before a crash. */
function lastWords({ lastLines }: Server): string {
  return lastLines
    .slice(-10)
    .map((line) => `  ${line}`)
    .join("\n");
}
