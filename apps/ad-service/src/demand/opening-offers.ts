import type { BidOutcome } from "@intermission/operator-api/bid-outcomes";
import type { ConsentOutcome } from "@intermission/operator-api/consent-outcomes";
import { type Database, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";

/** What one source said to an opening, and what became of it. */
export interface OpeningOffer {
  botId: string;
  requestId: string;
  /** `own`, or the id of a buyer. */
  source: string;
  outcome: BidOutcome | "no-campaign" | "none-fits";
  cpmMicros: number | null;
  tookMs: number;
  consent: ConsentOutcome | null;
  at: Date;
}

const rows = rowParameters({
  bot_id: "text",
  request_id: "text",
  source: "text",
  outcome: "text",
  cpm_micros: "bigint",
  took_ms: "integer",
  consent: "text",
  occurred_at: "timestamptz",
});

const insert = statement<never>(
  "demand.opening-offers",
  `insert into opening_offers (bot_id, request_id, source, outcome, cpm_micros, took_ms, consent, occurred_at) ${rows.table}`,
);

export async function storeOpeningOffers(
  database: Pick<Database, "run">,
  batch: readonly OpeningOffer[],
): Promise<undefined[]> {
  const values = batch.map((offer) => ({
    bot_id: offer.botId,
    request_id: offer.requestId,
    source: offer.source,
    outcome: offer.outcome,
    cpm_micros: offer.cpmMicros,
    took_ms: offer.tookMs,
    consent: offer.consent,
    occurred_at: offer.at,
  }));
  await database.run(insert, rows.values(values));
  return batch.map(() => undefined);
}
