import { type Database, type Runner, statement, type Transaction } from "./database.ts";
import type { DatabaseLimits, DatabaseLogger } from "./database-store.ts";
import { connectionOf, placeOf } from "./database-url.ts";
import { endPool, lendConnection, openPool } from "./open-pool.ts";
import { isOfStore, retryConflicts, runTransaction } from "./run-transaction.ts";
import { unavailabilityOf } from "./store-faults.ts";
import { watchSilence } from "./watch-silence.ts";

/** What may be read from a streaming replica now. */
type ReplicaState =
  | { readonly state: "following"; readonly lagSeconds: number }
  /** It answers, but has not replayed the log for longer than is allowed; null: it has replayed nothing yet. */
  | { readonly state: "behind"; readonly lagSeconds: number | null }
  | { readonly state: "away"; readonly reason: string };

export type ReplicaReading<T> =
  | { readonly outcome: "read"; readonly value: T }
  /** Nothing was read there; the primary has the same rows, and newer ones. */
  | { readonly outcome: "unavailable"; readonly state: ReplicaState };

export interface ReadReplica {
  /** Host, port and database, without user and password. */
  readonly place: string;
  /** As it was when it was last asked, some seconds ago at most. */
  readonly state: () => ReplicaState;
  /**
   * Runs `work` on one connection and one snapshot, so that all it reads is of one moment, whichever replica a load balancer
   * chose. Rejects with errors of `work`, and with those of statements that took too long.
   */
  read<T>(work: (snapshot: Runner) => Promise<T>): Promise<ReplicaReading<T>>;
  stop(): Promise<void>;
}

interface ReplicaFacts {
  readonly isStandby: boolean;
  /** When the newest transaction was committed that was replayed; null before the first, and on a primary. */
  readonly replayedAtMs: number | null;
  readonly epochId: string | null;
  readonly startedAt: string;
}

const facts = statement<ReplicaFacts>(
  "read-replica.facts",
  `select pg_is_in_recovery() as "isStandby",
     (extract(epoch from pg_last_xact_replay_timestamp()) * 1000)::float8 as "replayedAtMs",
     (select epoch_id from commit_epochs order by epoch desc limit 1) as "epochId",
     extract(epoch from pg_postmaster_start_time())::text as "startedAt"`,
);

/** What the primary says about itself, with which a replica is compared. */
interface PrimaryFacts {
  readonly epochIds: readonly string[];
  /** Of the newest epoch: a primary that restarted has begun another one. */
  readonly startedAt: string | null;
}

const primaryFacts = statement<PrimaryFacts>(
  "read-replica.primary",
  `select array_agg(epoch_id) as "epochIds",
     (array_agg(server_started_at order by epoch desc))[1] as "startedAt" from commit_epochs`,
);

/**
 * The replica's newest epoch is one of the primary's, whose ids are random: else it is another store. A server that is no
 * standby is the primary itself, as after a failover, or one that was promoted by mistake and goes its own way.
 */
export function judgeReplica(
  { isStandby, replayedAtMs, epochId, startedAt }: ReplicaFacts,
  { primary, nowMs, maxLagSeconds }: { primary: PrimaryFacts; nowMs: number; maxLagSeconds: number },
): ReplicaState {
  if (epochId === null || !primary.epochIds.includes(epochId))
    return { state: "away", reason: "it is no replica of the server of DATABASE_URL: name a streaming replica of it" };
  if (!isStandby)
    return startedAt === primary.startedAt
      ? { state: "following", lagSeconds: 0 }
      : {
          state: "away",
          reason: "it was promoted and no longer follows the server of DATABASE_URL: make it a replica",
        };
  if (replayedAtMs === null) return { state: "behind", lagSeconds: null };
  const lagSeconds = Math.max(0, (nowMs - replayedAtMs) / 1000);
  return { state: lagSeconds > maxLagSeconds ? "behind" : "following", lagSeconds };
}

const MAX_LAG_SECONDS = 300;
const LOOK_EVERY_MS = 2000;
const BEGIN = "begin transaction isolation level repeatable read, read only";
/** `statement_timeout`: the primary would not be faster. */
const TIMED_OUT = "57014";

/**
 * Opens a streaming replica for reading. It may be away at first and come back later. Its lag is the age of the newest
 * transaction that it has replayed, by the primary's clock: a server of the project writes every few seconds.
 */
export function openReadReplica(options: {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly primary: Pick<Database, "run">;
  readonly poolSize: number;
  readonly limits: DatabaseLimits;
  readonly logger: DatabaseLogger | undefined;
  /** The primary's time. */
  readonly now: () => Date;
  /** A replica that is further behind is not read; 300 by default. */
  readonly maxLagSeconds?: number | undefined;
}): ReadReplica {
  const { databaseUrl, schema, poolSize, limits, logger, now, maxLagSeconds = MAX_LAG_SECONDS } = options;
  const place = placeOf(databaseUrl);
  const server = connectionOf(databaseUrl);
  const { connection, pool, breakConnections } = openPool({ server, schema, poolSize, limits, logger });
  // Without a logger: a change of the state is logged here.
  const watch = watchSilence({
    connection,
    silentMs: limits.silentMs,
    breakConnections,
    logger: undefined,
    name: "the replica",
  });
  const comparing = comparePrimary(options.primary);
  const tracking = trackState({ place, logger });

  async function readOnce<T>(work: (snapshot: Runner) => Promise<T>): Promise<ReplicaReading<T>> {
    return runTransaction<ReplicaReading<T>>(
      await lendConnection(pool, watch),
      async (tx) => {
        const [found] = await tx.run(facts, []);
        if (found === undefined) throw new Error("the replica returned no facts about itself");
        watch.heard();
        const primary = await comparing.factsFor(found);
        const state = judgeReplica(found, { primary, nowMs: now().getTime(), maxLagSeconds });
        tracking.become(state);
        if (state.state !== "following") return { outcome: "unavailable", state };
        return { outcome: "read", value: await work(oneAtATime(tx)) };
      },
      { begin: BEGIN },
    );
  }

  async function read<T>(work: (snapshot: Runner) => Promise<T>): Promise<ReplicaReading<T>> {
    try {
      return await retryConflicts(() => readOnce(work));
    } catch (error) {
      if (!(error instanceof Error) || !isOfStore(error) || codeOf(error) === TIMED_OUT) throw error;
      const state = { state: "away", reason: error.message } as const;
      // Another error is of a statement, as while a migration is not replayed yet: the replica itself is there.
      if (unavailabilityOf(error) !== undefined) tracking.become(state);
      else logger?.warn({ err: error }, "the replica could not answer a report, which the primary answers");
      return { outcome: "unavailable", state };
    }
  }

  const looking = lookRegularly(() => read(async () => undefined));
  return {
    place,
    state: tracking.state,
    read,
    async stop() {
      await looking.stop();
      await watch.stop();
      await endPool(pool);
    },
  };
}

function codeOf(error: Error): unknown {
  return "code" in error ? error.code : undefined;
}

/** Knows the primary's epochs, also while it is away, and asks for them again when a replica has another one. */
function comparePrimary(primary: Pick<Database, "run">) {
  let known: PrimaryFacts = { epochIds: [], startedAt: null };
  return {
    async factsFor({ epochId, isStandby, startedAt }: ReplicaFacts): Promise<PrimaryFacts> {
      const isKnown = epochId !== null && known.epochIds.includes(epochId);
      if (isKnown && (isStandby || startedAt === known.startedAt)) return known;
      known = (await primary.run(primaryFacts, []))[0] ?? known;
      return known;
    },
  };
}

/** The last state; a change between a readable replica and one that is not is one line of the log. */
function trackState({ place, logger }: { place: string; logger: DatabaseLogger | undefined }) {
  let last: ReplicaState = { state: "away", reason: "it was not asked yet" };
  let isLogged = false;
  return {
    state: () => last,
    become(next: ReplicaState): void {
      const [was, is] = [last.state === "following", next.state === "following"];
      if (isLogged && !was && is)
        logger?.info({ replica: place }, `${describeReplica(place, next)}: reports are read there again`);
      if (!is && (was || !isLogged)) logger?.warn({ replica: place }, describeReplica(place, next));
      isLogged = true;
      last = next;
    },
  };
}

/** A sentence for people. */
export function describeReplica(place: string, state: ReplicaState): string {
  const of = `the replica of REPORTS_DATABASE_URL (${place})`;
  const elsewhere = "reports are read from the primary, two at a time";
  switch (state.state) {
    case "following":
      return `${of} is ${Math.round(state.lagSeconds)} s behind`;
    case "behind":
      return state.lagSeconds === null
        ? `${of} has replayed nothing yet: ${elsewhere}`
        : `${of} is ${Math.round(state.lagSeconds)} s behind: ${elsewhere}; look at its replay (pg_stat_replication) and its disk`;
    case "away":
      return `${of} cannot be read (${state.reason}): ${elsewhere}`;
  }
}

/** A connection takes one statement after the other. */
function oneAtATime(tx: Transaction): Runner {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(one, values) {
      const next = last.then(() => tx.run(one, values));
      last = next.catch(() => {});
      return next;
    },
  };
}

function lookRegularly(look: () => Promise<unknown>) {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let under = Promise.resolve();
  const lookAndWait = () => {
    under = look()
      // Errors are those of statements that took too long; the next look follows.
      .catch(() => {})
      .then(() => {
        if (!isStopped) timer = setTimeout(lookAndWait, LOOK_EVERY_MS).unref();
      });
  };
  lookAndWait();
  return {
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await under;
    },
  };
}
