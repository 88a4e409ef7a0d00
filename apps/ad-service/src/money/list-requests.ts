import { type MoneyRequest, requested } from "@intermission/operator-api/money-requests";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";

type Row = Omit<MoneyRequest, "requested" | "amountMicros"> & { requested: unknown; amount: string | null };

// $1: the person who reads; null: the command line.
const select = `select request_id as "requestId", state, requested, coalesce(
       (select name from advertisers where advertiser_id = object_id), (select name from bots where bot_id = object_id)) as name,
     amount_micros::text as amount, currency, requested_at as "requestedAt", requested_by_name as "requestedBy", seconded_by_name as "secondedBy",
     coalesce($1 in (requested_by, seconded_by), false) as "isOwn", decided_at as "decidedAt", decided_by_name as "decidedBy", reason
   from money_requests`;
const find = statement<Row>("approvals.find-request", `${select} where request_id = $2`);
// Unnamed, since its plan depends on the filter.
const list: Statement<Row> = {
  name: "",
  text: `${select} where ($2::text is null or state = $2) and ($3::text is null or (requested_at, request_id) < (
       select before.requested_at, before.request_id from money_requests as before where before.request_id = $3))
   order by requested_at desc, request_id desc limit $4`,
};
const count = statement<{ waiting: number }>(
  "approvals.count-waiting",
  "select count(*)::integer as waiting from money_requests where state = 'waiting'",
);

function requestOf({ requested: values, amount, ...row }: Row): MoneyRequest {
  return {
    ...row,
    requested: requested.parse(values),
    amountMicros: amount === null ? null : jsonInteger(BigInt(amount)),
  };
}

export async function findRequest(
  tx: Pick<Transaction, "run">,
  requestId: string,
  reader: string | undefined,
): Promise<MoneyRequest | undefined> {
  const [row] = await tx.run(find, [reader, requestId]);
  return row && requestOf(row);
}

/** The latest first. */
export async function listRequests(
  database: Pick<Database, "run">,
  of: {
    reader: string | undefined;
    state?: MoneyRequest["state"] | undefined;
    after?: string | undefined;
    limit: number;
  },
): Promise<MoneyRequest[]> {
  return (await database.run(list, [of.reader, of.state, of.after, of.limit])).map(requestOf);
}

export async function countWaiting(database: Pick<Database, "run">): Promise<number> {
  return (await database.run(count, []))[0]?.waiting ?? 0;
}
