import { type Database, statement } from "@intermission/postgres/open-database";
import { liveSessions, thisSession } from "@intermission/postgres/store-session";

const look = statement<{ isConnected: boolean; gone: number[] | null }>(
  "deliveries.gone-processes",
  `with live as materialized (${liveSessions})
  select ${thisSession} in (select number from live) as "isConnected",
    (select array_agg(distinct claimed_by) from deliveries
     where state = 'sending' and lease_until >= now() and claimed_by is not null and claimed_by not in (select number from live)) as gone`,
);

/**
 * Returns a function that reads which processes have claimed deliveries and are gone for `goneMs`, in which nodes that the
 * database has cut off connect again: their leases would keep an endpoint's places for half a minute. A process that is taken
 * for gone by mistake loses its claims: their events may be sent once more, as after a lease.
 */
export function watchProcesses(database: Pick<Database, "run">, goneMs: number): () => Promise<number[]> {
  const goneSince = new Map<number, number>();
  return async () => {
    const [row] = await database.run(look, []);
    const now = performance.now();
    // While this process itself is not counted as connected, the others may not have connected again either.
    const gone = new Set(row?.isConnected ? row.gone : []);
    for (const number of goneSince.keys()) if (!gone.has(number)) goneSince.delete(number);
    for (const number of gone) if (!goneSince.has(number)) goneSince.set(number, now);
    return [...goneSince].filter(([, since]) => now - since >= goneMs).map(([number]) => number);
  };
}
