import { webAddressFault } from "@intermission/ad-core/web-address";
import { storableText } from "@intermission/postgres/storable-text";
import type { FitBid } from "./openrtb/judge-bid.ts";

/** A card as its network sent it: the markup of its bid is this object as JSON. */
export interface SentCard {
  title: string | undefined;
  text: string | undefined;
  imageUrl: string | undefined;
  /** The address of the picture that stays the same for one creative. */
  file: string | undefined;
  button: string | undefined;
  advertiser: string | undefined;
  link: string | undefined;
}

/** A card that can be sent in a chat. */
export interface Card {
  title: string | null;
  text: string;
  imageUrl: string | null;
  /** As in `SentCard`. */
  file: string | null;
  button: string;
  advertiser: string | null;
  link: string;
}

/** Together they fit into the caption of a picture, of 1024 characters, beside the marking as an ad. */
const MAX_TITLE = 96;
const MAX_TEXT = 768;
const MAX_BUTTON = 64;
const MAX_NAME = 64;

export type TakenCard = { outcome: "card"; card: Card } | { outcome: "broken-markup"; detail: string };

/** Reads the card of a bid. The detail says what is wrong: no text, or an address that may not be opened here. */
export function takeCard(
  { bid: { markup = "{}" } }: Pick<FitBid, "bid">,
  rules: { isPlainHttpAllowed: boolean },
): TakenCard {
  const card = readCard(JSON.parse(markup) as SentCard, rules);
  return typeof card === "string" ? { outcome: "broken-markup", detail: card } : { outcome: "card", card };
}

/** A picture whose address may not be opened here is left out. */
function readCard(sent: SentCard, rules: { isPlainHttpAllowed: boolean }): Card | string {
  const { link } = sent;
  const title = cut(sent.title, MAX_TITLE);
  const text = cut(sent.text, MAX_TEXT) ?? title;
  if (text === null) return "the card has neither a title nor a message";
  if (link === undefined) return "the card has no link";
  const fault = webAddressFault(link, rules);
  if (fault !== undefined) return `the card's link cannot be used: ${fault}`;
  const isShown = (address: string | undefined) =>
    address !== undefined && webAddressFault(address, rules) === undefined;
  return {
    title: text === title ? null : title,
    text,
    imageUrl: isShown(sent.imageUrl) ? new URL(sent.imageUrl ?? "").href : null,
    file: isShown(sent.file) ? new URL(sent.file ?? "").href : null,
    button: cut(sent.button, MAX_BUTTON) ?? cut(title ?? text, MAX_BUTTON) ?? text,
    advertiser: cut(sent.advertiser, MAX_NAME),
    link: new URL(link).href,
  };
}

function cut(text: string | undefined, max: number): string | null {
  if (text === undefined) return null;
  return storableText(text, max).trim() || null;
}
