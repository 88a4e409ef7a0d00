import { HttpError } from "@intermission/http-server/http-server";
import type { RefundOutcome } from "../campaigns/refund-charge.ts";

/** Expected failures, in words for the operator who reads them on the command line. */
export function notFound(message: string): HttpError {
  return new HttpError(404, "NOT_FOUND", message);
}

export function unknownEvent(eventId: string): HttpError {
  return notFound(`there is no event ${eventId}; see the latest with: deliveries list`);
}

export function conflict(code: string, message: string): HttpError {
  return new HttpError(409, code, message);
}

export function unknownBot(botId: string): HttpError {
  return notFound(`there is no bot ${botId}; see all with: bots list`);
}

export function unknownCampaign(campaignId: string): HttpError {
  return notFound(`there is no campaign ${campaignId}; see all with: campaigns list`);
}

export function unknownCreative(creativeId: string): HttpError {
  return notFound(`there is no creative ${creativeId}; see all with: creatives list`);
}

export function unknownAdvertiser(name: string): HttpError {
  return notFound(`there is no advertiser ${name}; see all with: advertisers list`);
}

/** The command line replaces the field by its flag. */
export function invalidField(field: string, message: string): HttpError {
  return invalid(`${field} ${message}`, [{ field, message }]);
}

export function invalid(message: string, details?: unknown): HttpError {
  return new HttpError(400, "BAD_REQUEST", message, { details });
}

/** `what` names the view or the click. */
export function refundAnswer(refunded: RefundOutcome, what: string): { campaignId: string; refundedMicros: number } {
  if (refunded.outcome === "not-charged")
    throw conflict("NOT_CHARGED", `${what} was not charged: there is nothing to refund`);
  if (refunded.outcome === "refunded-before") throw conflict("REFUNDED", `${what} was refunded before`);
  return { campaignId: refunded.campaignId, refundedMicros: refunded.priceMicros };
}
