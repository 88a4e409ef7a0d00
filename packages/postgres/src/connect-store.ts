import pg from "pg";
import { connectionOf } from "./database-url.ts";
import { joinCluster } from "./join-cluster.ts";
import { requireUtf8 } from "./require-encoding.ts";
import { requireSessions } from "./require-sessions.ts";
import { faultOfServer } from "./server-faults.ts";
import { faultOfCluster, type StoreFault } from "./store-faults.ts";

export interface StorePlace {
  /** Without it the embedded cluster of the data folder is used. */
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  readonly buffersMegabytes: number;
}

/**
 * Lends one connection to a store, for long work such as an export. The embedded cluster's server is started if none runs;
 * `mayCreate` makes a missing cluster. Rejects with a `StoreFault` for faults that the operator can repair.
 */
export async function withStoreConnection<Result>(
  { databaseUrl, dataDirectory, buffersMegabytes }: StorePlace,
  { mayCreate }: { readonly mayCreate: boolean },
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  let death: StoreFault | undefined;
  const onDeath = (fault: StoreFault) => {
    death = fault;
  };
  const cluster =
    databaseUrl === undefined
      ? await joinCluster({ dataDirectory, mayCreate, buffersMegabytes, logger: undefined, onDeath })
      : undefined;
  const connection: pg.ClientConfig = cluster?.connection ?? connectionOf(databaseUrl ?? "");
  const client = new pg.Client({ ...connection, application_name: "intermission move", keepAlive: true });
  // The statement under way rejects with the reason.
  client.on("error", () => {});
  try {
    if (databaseUrl !== undefined) await requireSessions(databaseUrl);
    await client.connect();
    if (databaseUrl !== undefined) await requireUtf8(client, databaseUrl);
    return await work(client);
  } catch (error) {
    const fault = databaseUrl === undefined ? faultOfCluster(dataDirectory, error) : faultOfServer(databaseUrl, error);
    throw death ?? fault ?? error;
  } finally {
    await client.end().catch(() => {});
    await cluster?.leave();
  }
}
