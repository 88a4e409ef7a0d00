import { z } from "zod";
import { BotApiRefusal } from "../channel/bot-api-refusal.ts";
import type { OwnBot } from "./own-bot.ts";

/** Fields of a Bot API request by name; values that are not text are JSON. */
export type BotApiFields = Readonly<Record<string, string | undefined>>;

export interface BotApiCall {
  readonly bot: OwnBot;
  readonly fields: BotApiFields;
  /** Aborts when the bot's program closes the connection or this server stops. */
  readonly signal: AbortSignal;
}

/** A bot whose program uses this server in place of Telegram. */
export interface ServedBot {
  readonly token: string;
  /** `origin`: this server's, by which it was called. */
  methodOf(
    name: string,
  ):
    | ((call: {
        readonly fields: BotApiFields;
        readonly signal: AbortSignal;
        readonly origin: string;
      }) => Promise<unknown>)
    | undefined;
}

export function parse<Shape extends z.ZodType>(shape: Shape, fields: BotApiFields): z.output<Shape> {
  const parsed = shape.safeParse(fields);
  if (parsed.success) return parsed.data;
  throw new BotApiRefusal(z.prettifyError(parsed.error));
}

export function requireMiniapp(url: string, miniappOrigin: string): void {
  if (new URL(url).origin === miniappOrigin) return;
  throw new BotApiRefusal(`the simulated phone opens only the mini-app of the ad service, at ${miniappOrigin}`);
}
