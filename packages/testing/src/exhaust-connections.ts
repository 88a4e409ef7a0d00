import pg from "pg";

const TOO_MANY_CONNECTIONS = "53300";
/** More than a test's cluster accepts. */
const MAX_CONNECTIONS = 400;

/**
 * Takes every connection that a cluster accepts, those of its users too, which it ends: they find none that is free. Returns
 * a function that gives them back.
 */
export async function exhaustConnections(url: string): Promise<() => Promise<void>> {
  const taken: pg.Client[] = [];
  const first = await connect(url);
  if (first === undefined) throw new Error("the cluster has no free connection");
  taken.push(first);
  for (let round = 0; round < 3; round++) {
    for (let next = await connect(url); next !== undefined && taken.length < MAX_CONNECTIONS; next = await connect(url))
      taken.push(next);
    await first.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'intermission %'",
    );
  }
  return async () => {
    await Promise.all(taken.map((client) => client.end()));
  };
}

async function connect(url: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === TOO_MANY_CONNECTIONS) return undefined;
    throw error;
  }
}
