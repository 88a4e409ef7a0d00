import { randomUUID } from "node:crypto";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";

interface Node {
  nodeId: string;
  /** The machine's name and the port. */
  name: string;
  version: string;
  startedAt: Date;
  /** Nodes report every half minute. */
  seenAt: Date;
}

const EVERY_MS = 30_000;

// By the database's clock, so that the times of all nodes can be compared. A node that crashed is forgotten after a day.
// Unnamed like the list, since both run rarely.
const report: Statement<never> = {
  name: "",
  text: `with forgotten as (delete from nodes where seen_at < now() - interval '1 day' and node_id <> $1)
   insert into nodes (node_id, name, version, started_at, seen_at) values ($1, $2, $3, now(), now())
   on conflict (node_id) do update set seen_at = excluded.seen_at`,
};
const leave = statement<never>("status.remove-node", "delete from nodes where node_id = $1");
const list: Statement<Node> = {
  name: "",
  text: `select node_id as "nodeId", name, version, started_at as "startedAt", seen_at as "seenAt" from nodes
   order by started_at, node_id limit 1000`,
};

export async function listNodes(database: Pick<Database, "run">): Promise<Node[]> {
  return database.run(list, []);
}

/** Reports that this node runs, until it is stopped: then it leaves the list at once. */
export function startReportingNode(deps: {
  database: Pick<Database, "run">;
  name: string;
  version: string;
  log: Pick<FastifyBaseLogger, "error">;
}): BackgroundLoop {
  const { database, name, version, log } = deps;
  const nodeId = randomUUID();
  const loop = startLoop({
    everyMs: EVERY_MS,
    round: async () => {
      await database.run(report, [nodeId, name, version]);
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "this node could not be entered in the list of nodes; trying again"),
  });
  return {
    get health() {
      return loop.health;
    },
    async stop() {
      await loop.stop();
      await database.run(leave, [nodeId]).catch((error: unknown) => {
        log.error({ err: error }, "this node could not be removed from the list of nodes");
      });
    },
  };
}
