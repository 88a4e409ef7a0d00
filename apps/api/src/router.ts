import { z } from "zod";
import type { BotAnswer, BotChange, BotVerbs, ListedBot, NewBot } from "./bots/bot-records.ts";
import { codeProcedures } from "./codes/procedures.ts";
import { ledgerProcedures } from "./ledger/procedures.ts";
import { telegramUserProcedures } from "./telegram-user/procedures.ts";
import { publicProcedure, router } from "./trpc.ts";
import { userProcedures } from "./users/procedures.ts";
import type { NodeStatus } from "./verbs.ts";
import { receiptProcedures } from "./webhook-intake/procedures.ts";

export const appRouter = router({
  telegramUser: telegramUserProcedures,
  codes: codeProcedures,
  rewards: ledgerProcedures,
  receipts: receiptProcedures,
  users: userProcedures,
});

export type AppRouter = typeof appRouter;

/** For the command line: `app.ts` serves it only on the socket in the data folder. The verbs check the input. */
export const createOperatorRouter = (verbs: BotVerbs & { status(): Promise<NodeStatus> }) =>
  router({
    status: publicProcedure.query((): Promise<NodeStatus> => verbs.status()),

    bots: router({
      list: publicProcedure.query((): Promise<ListedBot[]> => verbs.listBots()),

      add: publicProcedure.input(z.custom<NewBot>()).mutation(({ input }): Promise<BotAnswer> => verbs.addBot(input)),

      change: publicProcedure
        .input(z.custom<{ botId: string; change: BotChange }>())
        .mutation(({ input }): Promise<BotAnswer> => verbs.changeBot(input.botId, input.change)),
    }),
  });

export type OperatorRouter = ReturnType<typeof createOperatorRouter>;
