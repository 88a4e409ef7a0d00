import { requireMilliseconds, wholeNumberOf } from "./client-settings.ts";
import type { AdEvent } from "./verify-webhook.ts";

/** Remembers which events were handled. */
export interface EventStore {
  /**
   * Runs `handle` unless the event was handled before, and stores the event as handled when `handle` resolves. While it runs,
   * further calls for the same event wait for it, or reject. An event whose `handle` rejected counts as not handled.
   */
  once(eventId: string, handle: () => Promise<void>): Promise<void>;
}

/** What identifies an event, or an entry of a ledger. */
export interface HandledFacts {
  readonly event: AdEvent["event"] | null;
  readonly eventId: string | null | undefined;
  readonly code: string | null | undefined;
  readonly entryId?: string;
  readonly recordedAt?: string;
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

/** Of this process: whether a store was used, and which warnings were given. */
let isAnyUsed = false;
const shownWarnings = new Set<string>();

const perRequest =
  "memoryStore() was made after another one had handled an event. If it is made for each request, an event that is sent twice is paid twice: make webhook() and its store once, outside of the handler; on Workers, which keep no memory, use a persistent store.";
const inProduction =
  "memoryStore() is of one process, and forgets its events when that ends: an event that is sent again afterwards, or to another process, is paid again. Pass a persistent store to webhook(), such as sqliteStore or postgresStore of @intermission/publisher/stores.";

function warnOfUse(isLate: boolean): void {
  isAnyUsed = true;
  const mode = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.NODE_ENV;
  const warnings = [isLate && mode !== "test" && perRequest, mode === "production" && inProduction];
  for (const warning of warnings) {
    if (warning === false || shownWarnings.has(warning)) continue;
    shownWarnings.add(warning);
    console.warn(warning);
  }
}

/**
 * Stores the last `maxEvents` handled events in this process. It is enough for tests, and for bots that may pay a reward twice
 * after a restart. Events that are being handled do not count towards `maxEvents`. Repeats wait for a running handler; one that
 * does not end within 10 minutes (`maxHandlerMs`) is called again.
 *
 * Warns once with `NODE_ENV=production`, and where a store is used that was made after another one handled an event: one made
 * for each request knows no earlier event.
 */
export function memoryStore(options: { readonly maxEvents?: number; readonly maxHandlerMs?: number } = {}): EventStore {
  const isLate = isAnyUsed;
  const { once } = rememberInMemory(options);
  return {
    async once(eventId, handle) {
      warnOfUse(isLate);
      return once(eventId, handle);
    },
  };
}

/** {@link memoryStore} without its warnings. */
export function rememberInMemory({ maxEvents = 100_000, maxHandlerMs = 600_000 } = {}): EventStore {
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
