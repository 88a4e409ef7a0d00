import { requireMilliseconds } from "./client-settings.ts";
import { requireStatements } from "./commit-writes.ts";
import type { Run } from "./handler-commits.ts";
import {
  type HandledEvent,
  leasedStore,
  MAX_REMEMBER_MS,
  requireTableName,
  type TableOptions,
} from "./leased-store.ts";
import type { EventStore } from "./memory-store.ts";
import { bindingAdvice, requireMethods } from "./store-clients.ts";

/** A statement of Cloudflare D1. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement;
  all(): Promise<{ results: unknown[] }>;
}

/** A database of Cloudflare D1: the binding of a Worker. */
export interface D1Database<Statement extends D1Statement> {
  prepare(sql: string): Statement;
  batch(statements: Statement[]): Promise<unknown>;
}

export interface D1Store<Statement extends D1Statement> extends EventStore {
  /**
   * Runs `statements` in the transaction that stores the event as handled, so that their effect is there exactly once,
   * wherever a crash happens. Call it once, inside the event's handler; what the handler does afterwards is not repeated.
   *
   * Rejects, and stores nothing, if the event's lease was taken over meanwhile.
   */
  commit(event: HandledEvent, statements: readonly Statement[]): Promise<void>;
}

/**
 * Handled events in a table of Cloudflare D1, for Workers. A handler runs under a lease. What it does is done at least once: it
 * runs again, after the lease of `leaseMs` (60 s by default, by the database's clock), if the Worker ends before the event is
 * stored as handled, or if it takes longer than that; a late handler then stores nothing. With `commit`, what it writes to the
 * same database is there exactly once.
 *
 * While another Worker handles an event, calls for it reject. The table is made with the first event. A Worker cannot share
 * what belongs to a request: make the store for each request.
 */
export function d1Store<Statement extends D1Statement>(
  database: D1Database<Statement>,
  { table = "handled_ad_events", leaseMs = 60_000 }: TableOptions = {},
): D1Store<Statement> {
  requireMethods(database, ["prepare", "batch"], `d1Store needs a binding of D1, such as env.DB: ${bindingAdvice}`);
  requireTableName(table);
  const now = "cast(unixepoch('subsec') * 1000 as integer)";
  const sql = {
    create: `create table if not exists ${table} (event_id text primary key, owner text not null,
      leased_until integer not null, handled_at integer)`,
    claim: `insert into ${table} (event_id, owner, leased_until) values (?1, ?2, ${now} + ?3)
      on conflict (event_id) do update set owner = excluded.owner, leased_until = excluded.leased_until
      where handled_at is null and leased_until <= ${now} returning 1 as claimed`,
    isHandled: `select 1 as handled from ${table} where event_id = ?1 and handled_at is not null`,
    finish: `update ${table} set handled_at = ${now} where event_id = ?1 and owner = ?2 and handled_at is null
      returning 1 as finished`,
    // No owner is found if the lease was taken over. It may not be null: the statement fails, and with it the whole batch.
    finishOrFail: `insert into ${table} (event_id, owner, leased_until) values (?1,
        (select owner from ${table} where event_id = ?1 and owner = ?2 and handled_at is null), 0)
      on conflict (event_id) do update set handled_at = ${now}`,
    release: `delete from ${table} where event_id = ?1 and owner = ?2 and handled_at is null`,
  };
  // `bind` of Cloudflare's type returns the type of its own statement.
  const bound = (text: string, ...values: unknown[]) => database.prepare(text).bind(...values) as Statement;
  const rows = async (statement: Statement) => (await statement.all()).results.length;

  const store = leasedStore(
    {
      async claim({ eventId, owner }) {
        const claim = () => rows(bound(sql.claim, eventId, owner, leaseMs));
        const claimed = await claim().catch(async (error: unknown) => {
          if (!(error instanceof Error) || !error.message.includes(`no such table: ${table}`)) throw error;
          await database.prepare(sql.create).all();
          return claim();
        });
        if (claimed > 0) return "claimed";
        return (await rows(bound(sql.isHandled, eventId))) > 0 ? "handled" : "leased";
      },
      finish: async ({ eventId, owner }) => (await rows(bound(sql.finish, eventId, owner))) > 0,
      release: ({ eventId, owner }) => bound(sql.release, eventId, owner).all(),
    },
    { leaseMs },
  );

  async function finishWith(run: Run | undefined, statements: readonly Statement[]): Promise<boolean> {
    const own = run ? [bound(sql.finishOrFail, run.eventId, run.owner)] : [];
    try {
      await database.batch([...own, ...statements]);
      return true;
    } catch (error) {
      const isTakenOver =
        error instanceof Error && error.message.includes(`NOT NULL constraint failed: ${table}.owner`);
      if (isTakenOver) return false;
      throw error;
    }
  }

  return {
    once: store.once,
    commit: (event, statements) =>
      store.commit(event, async (run) => {
        requireStatements(statements);
        return finishWith(run, statements);
      }),
  };
}

/** What a store is made with that extends the leases of running handlers. */
export interface LeaseStoreOptions {
  readonly leaseMs?: number | undefined;
  readonly maxHandlerMs?: number | undefined;
  readonly rememberMs?: number | undefined;
}

/** What the store uses of a namespace of Durable Objects, the binding of a Worker. */
export interface DurableObjectNamespace<Id> {
  idFromName(name: string): Id;
  get(id: Id): { fetch(url: string, init: { method: string; body: string }): Promise<Response> };
}

/** What {@link HandledEventObject} uses of the state of a Durable Object. */
interface DurableObjectState {
  readonly storage: {
    get(key: string): Promise<unknown>;
    put(key: string, value: unknown): Promise<void>;
    deleteAll(): Promise<void>;
    setAlarm(at: number): Promise<void>;
  };
}

interface Order extends Run {
  readonly action: "claim" | "finish" | "release" | "renew";
  readonly leaseMs: number;
  readonly rememberMs: number;
}

/** What an object stores of its event. */
interface EventState {
  readonly owner: string;
  readonly leasedUntil: number;
  readonly isHandled: boolean;
}

/**
 * The Durable Object of one event, for {@link durableObjectStore}. Export it from the Worker's main module, and name it in the
 * Worker's configuration as a class of Durable Objects.
 */
export class HandledEventObject {
  readonly #storage: DurableObjectState["storage"];

  constructor(state: DurableObjectState) {
    this.#storage = state.storage;
  }

  /** No other request is delivered to an object while it waits for its storage: each order is atomic. */
  async fetch(request: Request): Promise<Response> {
    const { action, owner, leaseMs, rememberMs } = (await request.json()) as Order;
    const state = (await this.#storage.get("event")) as EventState | undefined;
    const isOurs = state?.owner === owner && !state.isHandled;
    const lease = { owner, leasedUntil: Date.now() + leaseMs, isHandled: false };
    const store = async (next: EventState) => {
      await this.#storage.put("event", next);
      await this.#storage.setAlarm(Date.now() + rememberMs);
    };
    const answers = {
      claim: async () => {
        if (state?.isHandled) return "handled";
        if (state !== undefined && Date.now() < state.leasedUntil) return "leased";
        await store(lease);
        return "claimed";
      },
      finish: async () => {
        if (isOurs) await store({ ...lease, isHandled: true });
        return isOurs;
      },
      release: async () => {
        if (isOurs) await this.#storage.deleteAll();
      },
      renew: async () => {
        if (isOurs) await store(lease);
      },
    } satisfies Record<Order["action"], () => Promise<unknown>>;
    return Response.json({ answer: await answers[action]() });
  }

  /** The event was handled, or given up, so long ago that it is not sent again. */
  async alarm(): Promise<void> {
    await this.#storage.deleteAll();
  }
}

/**
 * Handled events in Durable Objects of Cloudflare, one for each event: for Workers without a database. A Worker leases the event
 * before it runs the handler, and extends the lease of `leaseMs` (60 s by default) while the handler runs, for at most
 * `maxHandlerMs` (10 minutes by default), so that a slow handler runs once. While an event is leased, calls of other Workers
 * for it reject.
 *
 * The handler's effect is not in the object: the event is handled again if the Worker ends between the two. So make the effect
 * idempotent. A handler whose lease another Worker took over rejects, and stores nothing.
 */
export function durableObjectStore<Id>(
  namespace: DurableObjectNamespace<Id>,
  { leaseMs = 60_000, maxHandlerMs = 600_000, rememberMs = 30 * 24 * 3_600_000 }: LeaseStoreOptions = {},
): EventStore {
  const needed = `durableObjectStore needs a binding of Durable Objects, such as env.EVENTS: ${bindingAdvice}`;
  requireMethods(namespace, ["idFromName", "get"], needed);
  requireMilliseconds({ maxHandlerMs });
  requireMilliseconds({ rememberMs }, { max: MAX_REMEMBER_MS });
  async function ask(action: Order["action"], { eventId, owner }: Run): Promise<unknown> {
    const order: Order = { action, eventId, owner, leaseMs, rememberMs };
    const object = namespace.get(namespace.idFromName(eventId));
    const response = await object.fetch("https://handled-events/", { method: "POST", body: JSON.stringify(order) });
    if (!response.ok) throw new Error(`the Durable Object of ${eventId} answered ${response.status}`);
    return ((await response.json()) as { answer: unknown }).answer;
  }
  const { once } = leasedStore(
    {
      async claim(run) {
        const answer = await ask("claim", run);
        return answer === "claimed" || answer === "handled" ? answer : "leased";
      },
      finish: async (run) => (await ask("finish", run)) === true,
      release: (run) => ask("release", run),
      renew: (run) => ask("renew", run),
    },
    { leaseMs, maxHandlerMs: Math.max(leaseMs, maxHandlerMs) },
  );
  return { once };
}
