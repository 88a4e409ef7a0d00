import type { CallQuestion, PreparedCall } from "../prepared-call.ts";
import { bidRequestOf, IMPRESSION_ID, keptText } from "./bid-request.ts";
import { judgeResponse, VIDEO } from "./judge-bid.ts";
import { readBidResponse } from "./read-bid-response.ts";

/** OpenRTB 2.6; a key, where there is one, is a bearer token. */
export function prepareOpenRtb({ opening, buyer, key, seller, tmaxMs }: CallQuestion): PreparedCall {
  const request = bidRequestOf(opening, buyer, { seller, tmaxMs });
  const { id, test } = request;
  const of = { requestId: id, impressionId: IMPRESSION_ID, currency: seller.currency, markupTypes: [VIDEO] };
  return {
    request: { id, botId: opening.botId, isTest: test === 1, kept: () => keptText(request) },
    headers: { "x-openrtb-version": "2.6", ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(request),
    judge: (body, rules) => judgeResponse(readBidResponse(body), { ...rules, ...of }),
  };
}
