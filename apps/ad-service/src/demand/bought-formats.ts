import type { BuyerProtocol } from "@intermission/operator-api/buyers";

/** What is bought: a view of the mini-app, or a card that a bot sends as a message. */
export type BoughtFormat = "rewarded" | "card";

/** What a buyer of each protocol is asked for. */
export const formatsOfProtocol = {
  openrtb: ["rewarded"],
  richads: ["rewarded"],
  "richads-cards": ["card"],
} satisfies Record<BuyerProtocol, [BoughtFormat, ...BoughtFormat[]]>;

export function buysFormat({ protocol }: { protocol: BuyerProtocol }, format: BoughtFormat): boolean {
  return (formatsOfProtocol[protocol] as readonly BoughtFormat[]).includes(format);
}
