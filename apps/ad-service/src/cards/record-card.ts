import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import { type Charge, publisherShareOf, selectTerms } from "../campaigns/event-worth.ts";
import { enqueueNotice } from "../vast/trackers.ts";
import { recordImpression } from "../views/record-impression.ts";

interface StoredCard {
  botId: string;
  userId: string;
  campaignId: string;
  isTest: boolean;
  priceMicros: number;
  link: string;
  notice: string | null;
  offeredAt: Date;
  expiresAt: Date;
  shownAt: Date | null;
}

const columns = `bot_id as "botId", user_id as "userId", campaign_id as "campaignId", is_test as "isTest",
  price_micros::float8 as "priceMicros", link, notice, offered_at as "offeredAt", expires_at as "expiresAt", shown_at as "shownAt"`;

const lock = statement<StoredCard>("cards.lock", `select ${columns} from cards where card_id = $1 for update`);
const find = statement<Pick<StoredCard, "userId">>(
  "cards.find",
  `select user_id as "userId" from cards where card_id = $1 and bot_id = $2`,
);
const setShown = statement<never>("cards.set-shown", "update cards set shown_at = $2 where card_id = $1");
const setClicked = statement<never>(
  "cards.set-clicked",
  "update cards set clicked_at = coalesce(clicked_at, $2) where card_id = $1",
);
const readShare = statement<Pick<Charge, "sharePercent" | "currency">>("cards.read-share", `select ${selectTerms}`);

/** Of a bot's card; undefined: it has none of this id. */
export async function findCard(
  database: Pick<Database, "run">,
  { cardId, botId }: { cardId: string; botId: string },
): Promise<Pick<StoredCard, "userId"> | undefined> {
  return (await database.run(find, [cardId, botId]))[0];
}

export type ShownCardOutcome =
  /** Now, or before. */
  | { outcome: "counted"; shownAt: Date }
  /** The bot sent it too late: its buyer owes nothing for it. */
  | { outcome: "expired" }
  /** A tester's card is free. */
  | { outcome: "test" };

/** Records that a bot has sent a card, once. */
export async function recordShown(
  database: Pick<Database, "transaction">,
  { cardId, now }: { cardId: string; now: Date },
): Promise<ShownCardOutcome> {
  return database.transaction(async (tx) => {
    const [card] = await tx.run(lock, [cardId]);
    if (card === undefined) return { outcome: "expired" };
    return countShown(tx, { ...card, cardId }, now);
  });
}

/** From now on the buyer owes the price, and is told; the publisher has its share at once. */
async function countShown(
  tx: Transaction,
  card: StoredCard & { cardId: string },
  now: Date,
): Promise<ShownCardOutcome> {
  const { cardId, botId, campaignId, priceMicros, isTest, notice, offeredAt: openedAt, shownAt } = card;
  if (shownAt !== null) return isTest ? { outcome: "test" } : { outcome: "counted", shownAt };
  if (card.expiresAt <= now) return { outcome: "expired" };
  await tx.run(setShown, [cardId, now]);
  if (isTest) return { outcome: "test" };
  const [terms] = await tx.run(readShare, []);
  const revenueMicros = publisherShareOf(priceMicros, terms?.sharePercent ?? 0);
  await recordImpression(tx, {
    botId,
    viewId: cardId,
    openedAt,
    campaignId,
    priceMicros,
    now,
    paid: { revenueMicros },
  });
  if (notice !== null) await enqueueNotice(tx, { botId, viewId: cardId, openedAt, url: notice, now });
  return { outcome: "counted", shownAt: now };
}

/** Follows the button of a card. Whoever follows it has seen the card, whether or not its bot has said so. Undefined: no card. */
export async function followCard(
  database: Pick<Database, "transaction">,
  { cardId, now }: { cardId: string; now: Date },
): Promise<string | undefined> {
  return database.transaction(async (tx) => {
    const [card] = await tx.run(lock, [cardId]);
    if (card === undefined) return undefined;
    await countShown(tx, { ...card, cardId }, now);
    await tx.run(setClicked, [cardId, now]);
    return card.link;
  });
}

/** A card stays in its chat: so long its button leads on. What is owed for it stays longer. */
const KEPT_DAYS = 30;
const forget = statement<never>(
  "cards.forget",
  `delete from cards where offered_at <= $1::timestamptz - interval '${KEPT_DAYS} days'`,
);

/** Removes old cards once an hour, until it is stopped. */
export function startForgettingCards(deps: {
  database: Pick<Database, "run">;
  log: Pick<FastifyBaseLogger, "error">;
  now: () => Date;
}): BackgroundLoop {
  const { database, log, now } = deps;
  return startLoop({
    everyMs: 3_600_000,
    async round() {
      await database.run(forget, [now()]);
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "old cards could not be removed; trying again in an hour"),
  });
}
