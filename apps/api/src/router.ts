import type { BotVerbs } from "./bots/bot-records.ts";
import { operatorProcedures } from "./bots/operator-procedures.ts";
import { type CodeVerbs, codeProcedures } from "./codes/procedures.ts";
import type { LedgerVerbs } from "./ledger/entries.ts";
import { ledgerProcedures } from "./ledger/procedures.ts";
import { type TelegramUserVerbs, telegramUserProcedures } from "./telegram-user/procedures.ts";
import { router } from "./trpc.ts";
import type { UserVerbs } from "./users/erasure.ts";
import { userProcedures } from "./users/procedures.ts";
import { receiptProcedures } from "./webhook-intake/procedures.ts";
import type { ReceiptVerbs } from "./webhook-intake/receipts.ts";

/** What a caller can do for one bot. */
export type Verbs = CodeVerbs & LedgerVerbs & ReceiptVerbs & UserVerbs;

export interface AllVerbs extends TelegramUserVerbs {
  /** Whether this text can come from `next`, `cursor` or a tracked id. */
  isCursor(text: string): boolean;
  /** Of the bot that the caller was identified with. */
  ofBot(botId: string): Verbs;
}

// The verbs are parameters, so that clients can import this file's type without the types of Node or of a database.
export const createRouter = ({ ofBot, isCursor, ...verbs }: AllVerbs) =>
  router({
    telegramUser: telegramUserProcedures(verbs),
    codes: codeProcedures(ofBot),
    rewards: ledgerProcedures(isCursor, ofBot),
    receipts: receiptProcedures(ofBot),
    users: userProcedures(ofBot),
  });

export type AppRouter = ReturnType<typeof createRouter>;

/** For the command line, by the socket in the data folder alone. */
export const createOperatorRouter = (verbs: BotVerbs) => router({ bots: operatorProcedures(verbs) });

export type OperatorRouter = ReturnType<typeof createOperatorRouter>;
