import { z } from "zod";
import { backendProcedure, router } from "../trpc.ts";
import type { Receipt } from "./schema.ts";

export interface ReceiptVerbs {
  latestReceipts(limit: number): Promise<Receipt[]>;
}

export const receiptProcedures = (verbs: ReceiptVerbs) =>
  router({
    /** The webhooks that came last, newest first, with the bytes that were signed. */
    latest: backendProcedure
      .input(z.object({ limit: z.int().min(1).max(50).default(20) }))
      .query(({ input }): Promise<Receipt[]> => verbs.latestReceipts(input.limit)),
  });
