import {
  type OfferCardResponse,
  offerCardRequest,
  offerCardResponse,
  type ShownCardResponse,
  shownCardResponse,
} from "@intermission/ad-core/card-api";
import { pageLanguage } from "@intermission/ad-core/page-language";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { HttpError } from "@intermission/server/http-server";
import { z } from "zod";
import { languageOf } from "../ad-selection/eligibility.ts";
import { callerOf, countCode, type RateLimits } from "../bots/authenticate-client.ts";
import { storeConsent } from "../viewers/viewer-consents.ts";
import { adLabels } from "./ad-labels.ts";
import { type CardDeps, type OfferedCard, offerCard } from "./offer-card.ts";
import { findCard, recordShown } from "./record-card.ts";

const offerCardOperation = {
  operationId: "offerCard",
  description:
    "Returns an ad of a network, which the bot sends as a message and then reports as sent. Networks are asked each time, so ask only for a card that is to be sent.",
  body: offerCardRequest,
  response: { 200: offerCardResponse },
};
const recordShownOperation = {
  operationId: "recordShownCard",
  description: "Records that the bot has sent a card: its buyer owes the price, once, and the publisher has its share.",
  params: z.object({ cardId: z.string().max(64) }),
  response: { 200: shownCardResponse, ...refusals(404) },
};

interface CardClientDeps extends CardDeps {
  limits: RateLimits;
  publicUrl: string;
  now: () => Date;
}

/** Cards, for publishers whose bot sends them. */
export function cardClientRoutes(scope: CheckedScope, deps: CardClientDeps): void {
  const { database } = deps;
  scope.post("/cards", { schema: offerCardOperation }, async (request, reply) => {
    const { bot_id: botId, user_tg_id: userId, language, consent } = request.body;
    const caller = callerOf(request);
    const { bot } = caller;
    if (botId !== bot.botId)
      throw new HttpError(403, "FORBIDDEN", `the token is of bot ${bot.botId}, and bot_id is ${botId}`);
    countCode(deps.limits, reply, caller, userId);
    const now = deps.now();
    if (consent !== undefined) await storeConsent(database, { botId, userId, consent, now });
    const offered = await offerCard(deps, { bot, userId, language: languageOf(language), now });
    const answer: OfferCardResponse =
      offered.outcome === "offered"
        ? { card: cardAnswer(offered.card, { language, publicUrl: deps.publicUrl }) }
        : { card: null, reason: offered.outcome };
    return answer;
  });

  scope.post("/cards/:cardId/shown", { schema: recordShownOperation }, async (request) => {
    const { cardId } = request.params;
    const { botId } = callerOf(request).bot;
    if ((await findCard(database, { cardId, botId })) === undefined)
      throw new HttpError(404, "NOT_FOUND", "this bot has no such card");
    const shown = await recordShown(database, { cardId, now: deps.now() });
    const answer: ShownCardResponse =
      shown.outcome === "counted"
        ? { card_id: cardId, counted: true, shown_at: shown.shownAt.toISOString() }
        : { card_id: cardId, counted: false, reason: shown.outcome };
    return answer;
  });
}

function cardAnswer(
  { cardId, title, text, imageUrl, button, advertiser, expiresAt }: OfferedCard,
  { language, publicUrl }: { language: string | undefined; publicUrl: string },
) {
  return {
    card_id: cardId,
    label: adLabels[pageLanguage(language)],
    ...(title !== null && { title }),
    text,
    ...(imageUrl !== null && { image_url: imageUrl }),
    button,
    url: `${publicUrl}/card/${cardId}`,
    ...(advertiser !== null && { advertiser }),
    expires_at: expiresAt.toISOString(),
  };
}
