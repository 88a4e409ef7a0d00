import { type Database, type Statement, statement, type Transaction } from "./database.ts";

/** Who changes something, by which route and from where. */
export interface Author {
  /** The name of the route. */
  action: string;
  objectKind: string;
  /** An object of the kind as it is, as JSON without secrets; null: there is none. */
  readState: (tx: Pick<Transaction, "run">, object: { kind: string; id: string }) => Promise<string | null>;
  /** The id and the e-mail address of a person, or `command-line`. Undefined: the object itself, a person who is signing in. */
  actor: { id: string; name: string } | undefined;
  address: string;
  requestId: string;
}

/** The same author, of a change of another object in the same transaction. */
export function authorOn(author: Author, objectKind: string): Author {
  return { ...author, objectKind };
}

/** A change that a transaction is about to make. */
export interface OpenChange {
  author: Author;
  objectId: string;
  /** Null: there is no such object yet. */
  before: string | null;
}

// Advisory, so that two changes of one object wait for each other, and no other statement does.
const lock = statement<never>("audit.lock", "select pg_advisory_xact_lock(hashtextextended($1, 0))::text");

/**
 * Reads the object before a change, for `audit`. The first statement of the transaction, so that changes of one object lock in
 * one order. Undefined: the service itself makes the change, which leaves no entry.
 */
export async function openChange(
  tx: Transaction,
  author: Author | undefined,
  objectId: string,
): Promise<OpenChange | undefined> {
  if (author === undefined) return undefined;
  await tx.run(lock, [`${author.objectKind} ${objectId}`]);
  return { author, objectId, before: await author.readState(tx, { kind: author.objectKind, id: objectId }) };
}

/** SQL of the fields of a state that the other state has otherwise; of a new or removed object all. */
const differing = (state: string, other: string) =>
  `case when ${state} is null or ${other} is null then ${state} else (
     select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(${state}) where ${other} -> key is distinct from value) end`;

// $6 and $7: the object before and after, of which the entry has the differing fields. Of a person who is signing in, no request
// knew the address yet.
const insert = statement<never>(
  "audit.insert",
  `insert into audit_entries (actor, actor_name, operation, object_kind, object_id, object_name, before, after, address, request_id)
   select $1, coalesce($2, (select email from people where person_id = $1)), $3, $4, $5,
     coalesce(after ->> 'name', before ->> 'name', case when $4 = 'person' then coalesce(after ->> 'email', before ->> 'email') end),
     ${differing("before", "after")},
     ${differing("after", "before")}, $8, $9
   from (select $6::jsonb as before, $7::jsonb as after) as states`,
);

/** Writes the entry of a change: call it in the transaction, after the change, and only if something was changed. */
export async function audit(tx: Transaction, change: OpenChange | undefined): Promise<void> {
  if (change === undefined) return;
  const { author, objectId, before } = change;
  const { action, objectKind: kind, actor = { id: objectId, name: null }, address, requestId } = author;
  const after = await author.readState(tx, { kind, id: objectId });
  await tx.run(insert, [actor.id, actor.name, action, kind, objectId, before, after, address, requestId]);
}

/** A change by one statement, which returns a row if it has changed something. */
export function changeAudited<Row>(
  database: Pick<Database, "transaction">,
  { objectId, author }: { objectId: string; author: Author | undefined },
  change: { statement: Statement<Row>; values: readonly unknown[] },
): Promise<Row | undefined> {
  return database.transaction(async (tx) => {
    const opened = await openChange(tx, author, objectId);
    const [row] = await tx.run(change.statement, change.values);
    if (row !== undefined) await audit(tx, opened);
    return row;
  });
}
