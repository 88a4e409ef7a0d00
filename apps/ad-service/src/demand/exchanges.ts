import { bidOutcomeNumbers } from "@intermission/operator-api/bid-outcomes";
import type { BuyerExchange } from "@intermission/operator-api/buyers";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import { storableText } from "@intermission/postgres/storable-text";
import type { BuyerAnswer } from "./request-bids.ts";

/** How many are kept of each buyer. */
const KEPT = 20;
const MAX_ANSWER_LENGTH = 16 * 1024;
const MAX_BIDS = 20;
const MAX_TEXT = 128;

type ExchangeRow = Omit<BuyerExchange, "nonBid">;

const columns = {
  exchangeId: "exchange_id::text",
  at: "at",
  botId: "bot_id",
  isTest: "is_test",
  tookMs: "took_ms",
  outcome: "outcome",
  consent: "consent",
  reason: "reason",
  detail: "detail",
  bids: "bids",
  request: "request",
  answer: "answer",
} satisfies ColumnsOf<ExchangeRow>;

const list = statement<ExchangeRow>(
  "demand.list-exchanges",
  `select ${selected(columns)} from buyer_exchanges where buyer_id = $1 order by exchange_id desc limit ${KEPT}`,
);

/** The latest first. */
export async function listExchanges(database: Pick<Database, "run">, buyerId: string): Promise<BuyerExchange[]> {
  return (await database.run(list, [buyerId])).map(withNumber);
}

function withNumber(row: ExchangeRow): BuyerExchange {
  return {
    ...row,
    nonBid: row.outcome === "no-bid" ? (standardReason(row.reason) ?? 0) : bidOutcomeNumbers[row.outcome].nonBid,
  };
}

/** The buyer's `nbr`, where it is one of the numbers that the list of `seatnonbid` shares. */
function standardReason(reason: number | null): number | undefined {
  return reason !== null && reason <= 17 ? reason : undefined;
}

const insert = statement<ExchangeRow>(
  "demand.insert-exchange",
  `with gone as (
    delete from buyer_exchanges where buyer_id = $1 and exchange_id <= (
      select exchange_id from buyer_exchanges where buyer_id = $1 order by exchange_id desc offset ${KEPT - 1} limit 1)
  )
  insert into buyer_exchanges (buyer_id, bot_id, is_test, at, took_ms, outcome, reason, detail, bids, request, answer,
    consent)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12)
  returning ${selected(columns)}`,
);

/** Keeps a request with its answer; of each buyer the latest twenty. */
export async function keepExchange(
  database: Pick<Transaction, "run">,
  answer: BuyerAnswer & { request: NonNullable<BuyerAnswer["request"]> },
  at: Date,
): Promise<BuyerExchange> {
  const { buyer, request, tookMs, outcome, reason, detail, body, consent } = answer;
  const bids = answer.bids.slice(0, MAX_BIDS).map(({ bid, outcome: of, cpmMicros }) => ({
    bidId: storableText(bid.bidId, MAX_TEXT),
    seat: bid.seat === undefined ? null : storableText(bid.seat, MAX_TEXT),
    outcome: of,
    cpmMicros,
    creativeId: bid.creativeId === undefined ? null : storableText(bid.creativeId, MAX_TEXT),
    domains: bid.domains.slice(0, 10).map((domain) => storableText(domain, MAX_TEXT)),
    categories: bid.categories.slice(0, 20).map((category) => storableText(category, MAX_TEXT)),
  }));
  const kept = body === null ? null : storableText(body, MAX_ANSWER_LENGTH);
  const values = [buyer.buyerId, request.botId, request.isTest, at, tookMs, outcome, reason, detail];
  const [row] = await database.run(insert, [...values, JSON.stringify(bids), request.kept(), kept, consent]);
  if (row === undefined) throw new Error("demand.insert-exchange returned no row");
  return withNumber(row);
}
