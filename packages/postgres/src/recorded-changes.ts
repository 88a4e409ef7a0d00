import { AsyncLocalStorage } from "node:async_hooks";
import { type Database, statement, type Transaction } from "./database.ts";

/** A request whose change of an object is recorded, by the transaction that makes it. */
export interface RecordedRequest {
  readonly objectKind: string;
  objectId: string;
  /** The object as it is now; undefined if there is none. */
  readState(tx: Transaction, objectId: string): Promise<object | undefined>;
  /** Writes the record. `after` is not read yet, since the object may have another name now. */
  record(tx: Transaction, change: { objectId: string; before: object | undefined }): Promise<void>;
  /** One record for each object: a handler may make several transactions. */
  isRecorded: boolean;
  /** The request was answered: work that it started in the background is not the caller's. */
  isOver: boolean;
}

const current = new AsyncLocalStorage<RecordedRequest>();

/** Runs a request's handler, so that a recording database records what it changes. */
export function recordRequest<Result>(request: RecordedRequest, handle: () => Result): Result {
  return current.run(request, handle);
}

/** Names the object that is changed next: a new one, or each one of several. Without a recorded request it does nothing. */
export function nameChangedObject(objectId: string): void {
  const request = current.getStore();
  if (request === undefined) return;
  request.objectId = objectId;
  request.isRecorded = false;
}

// Advisory, so that two changes of one object wait for each other, and no other statement does.
const lock = statement<never>("changes.lock", "select pg_advisory_xact_lock(hashtextextended($1, 0))::text");
// Of this transaction, and of earlier ones of the connection that are not in the statistics yet. Null: the server does not count.
const countChanges = statement<{ rows: number | null }>(
  "changes.count",
  `select case when current_setting('track_counts')::boolean then sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint end as rows
   from pg_stat_xact_user_tables where schemaname = current_schema()`,
);

/**
 * A database that records the changes of recorded requests: the record is written by the transaction that makes the change,
 * so that neither is without the other. Everything else passes through.
 */
export function recordingDatabase(database: Database): Database {
  function transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const request = current.getStore();
    if (request === undefined || request.isRecorded || request.isOver) return database.transaction(work);
    return recordedTransaction(database, request, work);
  }
  return {
    run: (question, values) =>
      current.getStore() === undefined ? database.run(question, values) : transaction((tx) => tx.run(question, values)),
    transaction,
    listen: (channel, onNotify) => database.listen(channel, onNotify),
    notify: (channel, payload) => database.notify(channel, payload),
    close: () => database.close(),
  };
}

async function recordedTransaction<Result>(
  database: Database,
  request: RecordedRequest,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const { objectKind, objectId } = request;
  const { result, isRecorded } = await database.transaction(async (tx) => {
    await tx.run(lock, [`${objectKind} ${objectId}`]);
    const before = await request.readState(tx, objectId);
    const rowsBefore = await changedRows(tx);
    const result = await work(tx);
    // Locks of rows are no changes, and a request that is refused changes none.
    if (rowsBefore !== null && (await changedRows(tx)) === rowsBefore) return { result, isRecorded: false };
    await request.record(tx, { objectId: request.objectId, before });
    return { result, isRecorded: true };
  });
  if (isRecorded) request.isRecorded = true;
  return result;
}

async function changedRows(tx: Transaction): Promise<number | null> {
  return (await tx.run(countChanges, []))[0]?.rows ?? null;
}
