import type { BuyerProtocol } from "@intermission/operator-api/buyers";
import type { ViewFormat } from "@intermission/operator-api/campaign-words";

/** What is bought: a view, or a card that a bot sends as a message. */
export type BoughtFormat = ViewFormat | "card";

/** What a buyer of each protocol is asked for. */
export const formatsOfProtocol = {
  openrtb: ["rewarded", "interstitial"],
  richads: ["rewarded", "interstitial"],
  "richads-cards": ["card"],
} satisfies Record<BuyerProtocol, [BoughtFormat, ...BoughtFormat[]]>;

export function buysFormat({ protocol }: { protocol: BuyerProtocol }, format: BoughtFormat): boolean {
  return (formatsOfProtocol[protocol] as readonly BoughtFormat[]).includes(format);
}
