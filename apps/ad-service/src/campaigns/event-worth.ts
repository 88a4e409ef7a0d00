import type { OutgoingWebhookEvent } from "@intermission/ad-core/outgoing-webhook";
import { type Database, statement } from "@intermission/postgres/open-database";

/** The facts that determine what an event is worth: the price of its ad, the publisher's share, and a setting of the bot. */
export interface Charge {
  /** Null: nothing is sold. */
  priceMicros: number | null;
  sharePercent: number;
  /** Null in a store on which no node has started yet. */
  currency: string | null;
  /** Whether the bot's events say what they are worth. */
  includeRevenue: boolean;
}

/** The worth of an event, for its row and for its body. It is determined once, and stays when price and share change. */
export interface EventWorth {
  /** What the campaign owes. */
  priceMicros: number | null;
  /** The publisher's share of it. */
  revenueMicros: number | null;
  /** What the body of the event says about it. */
  fields: Pick<OutgoingWebhookEvent, "revenue_micros" | "currency">;
}

/** Columns of a charge that are the same for every event. */
export const selectTerms = `
  coalesce((select percent from publisher_shares order by since desc limit 1), 0) as "sharePercent",
  (select currency from deployment limit 1) as currency`;

const readCurrency = statement<{ currency: string }>("campaigns.read-currency", "select currency from deployment");

export async function storedCurrency(database: Pick<Database, "run">): Promise<string | null> {
  return (await database.run(readCurrency, []))[0]?.currency ?? null;
}

/** A test costs nothing, so it is worth nothing. */
export function worthOf(charge: Charge, { isTest }: { isTest: boolean }): EventWorth {
  const priceMicros = isTest ? null : charge.priceMicros;
  const revenueMicros = priceMicros === null ? null : publisherShareOf(priceMicros, charge.sharePercent);
  return { priceMicros, revenueMicros, fields: revenueFields(revenueMicros, charge) };
}

/** Rounded down to the millionth. */
export function publisherShareOf(priceMicros: number, percent: number): number {
  return Number((BigInt(priceMicros) * BigInt(percent)) / 100n);
}

/** An event that nothing was charged for, such as one of a house ad without a price, is worth 0. */
export function revenueFields(
  revenueMicros: number | null,
  { currency, includeRevenue }: Pick<Charge, "currency" | "includeRevenue">,
): EventWorth["fields"] {
  return includeRevenue && currency !== null ? { revenue_micros: revenueMicros ?? 0, currency } : {};
}
