import { momentInput, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { backendProcedure, router } from "../trpc.ts";
import type { Receipt, RefusalCount } from "../verbs.ts";
import { receiptOutcomes } from "../verbs.ts";

export const receiptProcedures = router({
  /** The latest events, newest first, with the bytes that were signed. */
  latest: backendProcedure
    .input(z.object({ limit: z.int().min(1).max(50).default(20) }))
    .query(({ ctx, input }): Promise<Receipt[]> => ctx.bot.listReceipts({ outcome: "event", ...input })),

  /** Every signed webhook, newest first, including those that were not events. */
  list: backendProcedure
    .input(
      z.object({
        outcome: z.enum([...receiptOutcomes, "duplicate"]).optional(),
        userId: telegramId.optional(),
        since: momentInput.optional(),
        limit: z.int().min(1).max(1000).default(50),
      }),
    )
    .query(({ ctx, input }): Promise<Receipt[]> => ctx.bot.listReceipts(input)),

  /** The number of webhooks refused before their signature was verified, by hour and reason. */
  refused: backendProcedure
    .input(z.object({ since: momentInput }))
    .query(({ ctx, input }): Promise<RefusalCount[]> => ctx.bot.listRefusals(input.since)),
});
