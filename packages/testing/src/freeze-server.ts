import { readdirSync, readFileSync } from "node:fs";

/** The server process of a cluster and its children, which are all of its processes. */
function processesOf(server: number): number[] {
  const parentOf = (pid: number) => {
    try {
      // The name, in brackets, may hold blanks.
      return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
    } catch {
      return undefined;
    }
  };
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return [server, ...pids.map(Number).filter((pid) => parentOf(pid) === server)];
}

/**
 * Stops all processes of a PostgreSQL server with SIGSTOP: it holds its connections, the kernel accepts new ones, and nothing
 * is answered. Returns what lets them go on.
 */
export function freezeServer(server: number): () => void {
  const pids = processesOf(server);
  // The server first, so that it starts no further process.
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  let isFrozen = true;
  return () => {
    // Later, its processes may have ended, and their ids may belong to others.
    if (isFrozen) for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT");
    isFrozen = false;
  };
}
