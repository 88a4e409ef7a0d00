import { type CommitGroup, groupCommits, inRounds } from "@intermission/postgres/group-commits";
import type { Database } from "@intermission/postgres/open-database";
import { LRUCache } from "lru-cache";
import type { Deliveries } from "../deliveries/deliveries.ts";
import { enqueueTrackerCalls } from "../vast/trackers.ts";
import type { TrackedEvent } from "../vast/vast-ad.ts";
import type { Milestone } from "./accept-progress.ts";
import { recordProgressOnly, recordViews } from "./record-views.ts";
import type { AdSession } from "./session.ts";
import { type ChangeOutcome, isProgressOnly, type ViewChange } from "./view-change.ts";

/** The VAST events of each milestone. The first frame is the impression; the start is when the server learns of it. */
const trackedEventsOf = {
  start: ["impression", "start", "verificationNotExecuted"],
  "first-quartile": ["firstQuartile"],
  midpoint: ["midpoint"],
  "third-quartile": ["thirdQuartile"],
  // The end card follows at once.
  complete: ["complete", "companionView"],
} satisfies Record<Milestone, TrackedEvent[]>;

/** Views that are remembered while they are watched, at some 2 kB each. */
const MOST_REMEMBERED = 20_000;

/** Stores changes of views, many in one statement, and remembers what it stored, so that the next report needs no read. */
export interface ViewRecorder {
  readonly database: Database;
  /** The view as this node last stored it. If another node has changed it since, a change of it results in "changed". */
  remembered(sessionId: string): AdSession | undefined;
  remember(session: AdSession): void;
  /** Resolves after the commit. Rejects if it is unknown whether there was a commit; a repeated change is then "changed". */
  change(change: ViewChange): Promise<ChangeOutcome>;
  /** Runs the calls of one view one after another on this node. */
  inTurn<Result>(sessionId: string, work: () => Promise<Result>): Promise<Result>;
}

export function viewRecorder({ database, deliveries }: { database: Database; deliveries: Deliveries }): ViewRecorder {
  // It stays full of abandoned views: a full Map takes 14 to 24 µs to find its first key behind deleted ones, an LRUCache 1 µs.
  const memory = new LRUCache<string, AdSession>({ max: MOST_REMEMBERED });
  const running = new Map<string, Promise<unknown>>();
  const store = database.kind;
  const progress: CommitGroup<ViewChange, ChangeOutcome> = groupCommits({
    store,
    run: (batch) => recordProgressOnly(database, batch),
  });
  const others: CommitGroup<ViewChange, ChangeOutcome> = groupCommits({
    store,
    async run(batch) {
      const outcomes = new Map<ViewChange, ChangeOutcome>();
      // Two views of one viewer in one statement would both be judged by the state before either.
      for (const round of inRounds(batch, viewerOf)) {
        const most = round.filter(({ ending }) => ending?.fate === "pay").length;
        const results = await deliveries.sendNew(most, (slots) => recordViews(database, round, slots));
        for (const [index, change] of round.entries()) outcomes.set(change, results[index] ?? { outcome: "changed" });
      }
      return batch.map((change) => outcomes.get(change) ?? { outcome: "changed" });
    },
  });

  function remember(session: AdSession): void {
    const { sessionId, state } = session;
    if (state === "opened" || state === "playing" || state === "watched") memory.set(sessionId, session);
    else memory.delete(sessionId);
  }

  return {
    database,
    remembered: (sessionId) => memory.get(sessionId),
    remember,
    async change(change) {
      const { sessionId, isVast, isTest } = change.before;
      const isTracked = isVast && !isTest && (change.milestones.length > 0 || change.ending !== undefined);
      const group = isProgressOnly(change) ? progress : others;
      let isStored = false;
      try {
        const changed = await (isTracked ? recordWithTrackers(database, change) : group.submit(change));
        if (isTracked) deliveries.wake();
        isStored = changed.outcome === "stored";
        if (changed.outcome === "stored") remember(changed.session);
        return changed;
      } finally {
        // The row differs from what is remembered, or its state is unknown.
        if (!isStored) memory.delete(sessionId);
      }
    },
    async inTurn(sessionId, work) {
      const turn = (running.get(sessionId) ?? Promise.resolve()).then(work);
      const ended = turn.catch(() => {});
      running.set(sessionId, ended);
      try {
        return await turn;
      } finally {
        if (running.get(sessionId) === ended) running.delete(sessionId);
      }
    },
  };
}

/** The tracker calls of an ad commit together with the change that they report. */
function recordWithTrackers(database: Database, change: ViewChange): Promise<ChangeOutcome> {
  return database.transaction(async (tx) => {
    const [recorded] = (await recordViews(tx, [change], 0)).result;
    if (recorded?.outcome !== "stored") return recorded ?? { outcome: "changed" };
    const { after, ending, now } = change;
    await enqueueTrackerCalls(tx, after, { events: milestoneEvents(change), playheadMs: after.acceptedMs, now });
    if (ending) await enqueueTrackerCalls(tx, after, { events: ["close"], playheadMs: after.durationMs, now });
    return recorded;
  });
}

function viewerOf({ before: { botId, userId } }: ViewChange): string {
  return `${botId} ${userId}`;
}

function milestoneEvents({ milestones }: ViewChange): TrackedEvent[] {
  return milestones.flatMap((milestone) => trackedEventsOf[milestone]);
}
