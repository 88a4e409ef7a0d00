import { type CodeVerbs, codeProcedures } from "./codes/procedures.ts";
import type { LedgerVerbs } from "./ledger/entries.ts";
import { ledgerProcedures } from "./ledger/procedures.ts";
import { type TelegramUserVerbs, telegramUserProcedures } from "./telegram-user/procedures.ts";
import { router } from "./trpc.ts";
import type { UserVerbs } from "./users/erasure.ts";
import { userProcedures } from "./users/procedures.ts";
import { receiptProcedures } from "./webhook-intake/procedures.ts";
import type { ReceiptVerbs } from "./webhook-intake/receipts.ts";

export type Verbs = TelegramUserVerbs & CodeVerbs & LedgerVerbs & ReceiptVerbs & UserVerbs;

// The verbs are parameters, so that clients can import this file's type without the types of Node or of a database.
export const createRouter = (verbs: Verbs) =>
  router({
    telegramUser: telegramUserProcedures(verbs),
    codes: codeProcedures(verbs),
    rewards: ledgerProcedures(verbs),
    receipts: receiptProcedures(verbs),
    users: userProcedures(verbs),
  });

export type AppRouter = ReturnType<typeof createRouter>;
