import { generate } from "lean-qr";
import { toSvgSource } from "lean-qr/extras/svg";
import type { Bot } from "../bots/bots.ts";

/** The address of the bot's chat. A username that is none of Telegram's form gives none, so that it can never become markup. */
export function botLink({ username }: Pick<Bot, "username">): string | undefined {
  return username !== null && /^\w{1,64}$/.test(username) ? `https://t.me/${username}` : undefined;
}

/** Puts the bot's address into the page, for readers who open it outside Telegram. */
export function embedBotLink(html: string, bot: Pick<Bot, "username">): string {
  const link = botLink(bot);
  return link === undefined ? html : html.replace("</head>", `<meta name="bot-link" content="${link}" /></head>`);
}

/** A QR code as an SVG document, black on white, with the quiet zone that cameras need. */
export function qrCode(link: string): string {
  return toSvgSource(generate(link), { on: "#000", off: "#fff", padX: 4, padY: 4, xmlDeclaration: true });
}
