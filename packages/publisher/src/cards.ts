import { unexpectedAnswer } from "./ads-error.ts";

/** An ad of a network, to be sent as a message. */
export interface Card {
  readonly cardId: string;
  /** Marks it as an ad, in the user's language: send it with the card. */
  readonly label: string;
  readonly title: string | undefined;
  /** Plain text. */
  readonly text: string;
  readonly imageUrl: string | undefined;
  /** The text of the button. */
  readonly button: string;
  /** For a `url` button: it counts the click and leads on. */
  readonly url: string;
  readonly advertiser: string | undefined;
  /** Send it, and call `cardShown`, before. */
  readonly expiresAt: string;
}

/** A card by its names on the wire. */
export function cardOf(fields: unknown): Card {
  if (typeof fields !== "object" || fields === null) throw unexpectedAnswer();
  const { card_id, label, title, text, image_url, button, url, advertiser, expires_at } = fields as Readonly<
    Record<string, unknown>
  >;
  const texts = [card_id, label, text, button, url, expires_at];
  if (!texts.every((one) => typeof one === "string")) throw unexpectedAnswer();
  return {
    cardId: String(card_id),
    label: String(label),
    title: title === undefined ? undefined : String(title),
    text: String(text),
    imageUrl: image_url === undefined ? undefined : String(image_url),
    button: String(button),
    url: String(url),
    advertiser: advertiser === undefined ? undefined : String(advertiser),
    expiresAt: String(expires_at),
  };
}

/** The text of a card as a message: its marking and advertiser, its title, its text. It fits into a caption. */
export function messageOf({ label, title, text, advertiser }: Card): string {
  const marking = advertiser === undefined ? label : `${label} · ${advertiser}`;
  return [marking, title, text].filter((line) => line !== undefined).join("\n");
}
