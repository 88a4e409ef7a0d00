import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { backendProcedure, router } from "../trpc.ts";
import type { UserErasure } from "../verbs.ts";

export const userProcedures = router({
  /** Counts the records of a user. */
  kept: backendProcedure
    .input(z.object({ userId: telegramId }))
    .query(({ ctx, input }): Promise<UserErasure> => ctx.bot.eraseUser(input.userId, false)),

  /** Erases a user permanently; the ledger's sums stay. */
  erase: backendProcedure
    .input(z.object({ userId: telegramId }))
    .mutation(({ ctx, input }): Promise<UserErasure> => ctx.bot.eraseUser(input.userId, true)),
});
