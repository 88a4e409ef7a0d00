import { requireMilliseconds, wholeNumberOf } from "./client-settings.ts";
import { type JoinStore, joinsInMemory } from "./join-store.ts";
import type { AdEvent } from "./verify-webhook.ts";

/** Remembers which events were handled. */
export interface EventStore {
  /**
   * Runs `handle` unless the event was handled before, and stores the event as handled when `handle` resolves. While it runs,
   * further calls for the same event wait for it, or reject. An event whose `handle` rejected counts as not handled.
   */
  once(eventId: string, handle: () => Promise<void>): Promise<void>;
  /** The requests to join a channel that wait for their ad. Only `joinRequests` of `/grammy` needs them. */
  readonly joins?: JoinStore | undefined;
}

export interface MemoryOptions {
  readonly maxEvents?: number | undefined;
  readonly maxHandlerMs?: number | undefined;
}

/** What identifies an event, or an entry of a ledger. */
export interface HandledFacts {
  readonly event: AdEvent["event"] | null;
  readonly eventId: string | null | undefined;
  readonly code: string | null | undefined;
  readonly entryId?: string | undefined;
  readonly recordedAt?: string | undefined;
}

/**
 * What a store knows an event or an entry by. Undefined for an event without an id and a code.
 *
 * An entry of a ledger is known by its event: after a restore the event may be recorded again, in another entry, and the
 * `entryId` of a lost entry belongs to another one. A spend has no event. A code earns each event type at most once: together
 * they identify an event of a service that sends no ids.
 */
export function eventKey({ eventId, code, event, entryId, recordedAt }: HandledFacts): string | undefined {
  if (eventId) return eventId;
  return entryId ? `entry ${entryId} of ${recordedAt}` : (code ?? undefined) && `${code}:${event}`;
}

// Whether a store of this process was used.
let isAnyUsed = false;
const shownWarnings = new Set<string>();

/**
 * Stores the last `maxEvents` handled events in this process. It is enough for tests, and for bots that may pay a reward twice
 * after a restart. Events that are being handled do not count towards `maxEvents`. Repeats wait for a running handler; one that
 * does not end within 10 minutes (`maxHandlerMs`) is called again.
 *
 * Its first use in a process warns of that, and so does a store that was made after another one handled an event: one made for
 * each request knows no earlier event.
 */
export function memoryStore(options: MemoryOptions = {}): EventStore {
  const isLate = isAnyUsed;
  let hasWarned = false;
  const { once } = rememberInMemory(options);
  return {
    joins: joinsInMemory(),
    async once(eventId, handle) {
      if (!hasWarned) {
        hasWarned = isAnyUsed = true;
        const { warnOnce } = await import("./memory-warnings.ts");
        if (isLate) warnOnce("perRequest", shownWarnings);
        warnOnce("forgets", shownWarnings);
      }
      return once(eventId, handle);
    },
  };
}

// memoryStore without its warnings.
export function rememberInMemory({ maxEvents = 100_000, maxHandlerMs = 600_000 }: MemoryOptions = {}): EventStore {
  wholeNumberOf(maxEvents, { option: "maxEvents", min: 1 });
  requireMilliseconds({ maxHandlerMs });
  const handled = new Set<string>();
  const running = new Map<string, { readonly done: Promise<void>; readonly until: number }>();

  async function run(eventId: string, handle: () => Promise<void>): Promise<void> {
    // In the next turn, so that the event is in `running` before its handler can throw.
    await Promise.resolve().then(handle);
    handled.add(eventId);
    const [oldest] = handled;
    if (handled.size > maxEvents && oldest !== undefined) handled.delete(oldest);
  }

  return {
    async once(eventId, handle) {
      if (handled.has(eventId)) return;
      const now = performance.now();
      const known = running.get(eventId);
      if (known && now < known.until) return known.done;
      // The oldest one is first.
      for (const [id, { until }] of running) if (now < until || !running.delete(id)) break;
      const done = run(eventId, handle).finally(() => running.get(eventId) === own && running.delete(eventId));
      const own = { done, until: now + maxHandlerMs };
      running.set(eventId, own);
      return done;
    },
  };
}
