import type { Runner } from "@intermission/postgres/open-database";
import { describeReplica, type ReadReplica } from "@intermission/postgres/read-replica";
import type { HttpError } from "@intermission/server/http-server";
import { refusal } from "@intermission/server/refuse";
import { Gauge, type Registry } from "prom-client";

/** Where reports are read: from the primary, or from a replica that may lag. */
export interface ReportSource {
  /** Runs work that only reads, all of one report, whose rows may be some seconds old. It may run twice. */
  read<T>(work: (store: Runner) => Promise<T>): Promise<T>;
  /** Undefined without a replica. */
  readonly replica: Pick<ReadReplica, "place" | "state"> | undefined;
  /** What `/readyz` says while reports are not read from the replica. */
  warning(): string | undefined;
}

/** Without `REPORTS_DATABASE_URL`. */
export function reportsFromPrimary(primary: Runner): ReportSource {
  return { read: (work) => work(primary), replica: undefined, warning: () => undefined };
}

/** A primary whose replica is away answers reports, but keeps its connections for what users wait for. */
const MAX_ON_PRIMARY = 2;
const RETRY_SECONDS = 5;

/**
 * Reads from the replica. While it is away, or too far behind, the primary answers, two reports at a time: further ones are
 * answered 503.
 */
export function reportsFromReplica(replica: ReadReplica, primary: Runner): ReportSource {
  let onPrimary = 0;
  return {
    replica,
    warning() {
      const state = replica.state();
      return state.state === "following" ? undefined : describeReplica(replica.place, state);
    },
    async read(work) {
      const reading = await replica.read(work);
      if (reading.outcome === "read") return reading.value;
      if (onPrimary >= MAX_ON_PRIMARY) throw tooManyReports(replica.place);
      onPrimary += 1;
      try {
        return await work(primary);
      } finally {
        onPrimary -= 1;
      }
    },
  };
}

function tooManyReports(place: string): HttpError {
  return refusal(
    503,
    "UNAVAILABLE",
    `the replica of reports (${place}) cannot be read, and the primary answers ${MAX_ON_PRIMARY} reports at a time: retry in ${RETRY_SECONDS} s`,
    { headers: { "retry-after": String(RETRY_SECONDS) } },
  );
}

/** How far reports are behind, where they are read from a replica. */
export function replicaMetrics(registry: Registry, { replica }: ReportSource): void {
  if (replica === undefined) return;
  new Gauge({
    name: "intermission_replica_readable",
    registers: [registry],
    help: "1 if reports are read from the replica, 0 while the primary answers them.",
    collect() {
      this.set(replica.state().state === "following" ? 1 : 0);
    },
  });
  new Gauge({
    name: "intermission_replica_lag_seconds",
    registers: [registry],
    help: "Age of the newest transaction that the replica of reports has replayed; NaN while it does not answer.",
    collect() {
      const state = replica.state();
      this.reset();
      this.set(state.state === "away" ? Number.NaN : (state.lagSeconds ?? Number.NaN));
    },
  });
}
