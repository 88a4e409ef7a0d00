import { eventType, telegramId } from "@intermission/ad-core/client-api";
import { TRPCError, tracked } from "@trpc/server";
import { z } from "zod";
import { backendProcedure, router, storableText, subjectOf, unavailableOr, userOrBackendProcedure } from "../trpc.ts";
import { type LedgerVerbs, LostCursorError, type RewardPage, type RewardStatus, type SpendOutcome } from "./entries.ts";

const lostCursor =
  "the ledger was restored from a backup that is older than this cursor: watch from the start, and skip the entryIds that you have";

const maximalAmount = 1_000_000_000;

export const ledgerProcedures = (isCursor: (text: string) => boolean, verbsOf: (botId: string) => LedgerVerbs) => {
  const cursor = z.string().max(200).refine(isCursor, "is not a cursor of this ledger");
  return router({
    /** The outcome of a code; without a code, of the user's newest event. */
    status: userOrBackendProcedure
      .input(
        z.object({
          code: storableText(64).optional(),
          userId: telegramId.optional(),
          event: eventType.optional(),
        }),
      )
      .query(({ ctx, input }): Promise<RewardStatus> => {
        const userId = subjectOf(ctx.caller, input.userId);
        if (userId === undefined && input.code === undefined) {
          throw new TRPCError({ code: "BAD_REQUEST", message: "name a code or a userId" });
        }
        return verbsOf(ctx.caller.botId).getRewardStatus({ userId, code: input.code, event: input.event });
      }),

    list: userOrBackendProcedure
      .input(
        z.object({
          userId: telegramId.optional(),
          cursor: cursor.optional(),
          limit: z.int().min(1).max(100).default(20),
        }),
      )
      .query(
        ({ ctx, input }): Promise<RewardPage> =>
          verbsOf(ctx.caller.botId).listRewards({
            userId: subjectOf(ctx.caller, input.userId),
            cursor: input.cursor,
            limit: input.limit,
          }),
      ),

    balance: userOrBackendProcedure
      .input(z.object({ userId: telegramId.optional() }))
      .query(async ({ ctx, input }): Promise<{ balance: number }> => {
        const userId = subjectOf(ctx.caller, input.userId);
        if (userId === undefined) throw new TRPCError({ code: "BAD_REQUEST", message: "name a userId" });
        return { balance: await verbsOf(ctx.caller.botId).getBalance(userId) };
      }),

    /** Takes units from a user. The key makes a repeat safe: it returns the answer of the first call. */
    spend: backendProcedure
      .input(
        z.object({
          userId: telegramId,
          amount: z.int().min(1).max(maximalAmount),
          idempotencyKey: storableText(128),
          note: storableText(200).optional(),
        }),
      )
      .mutation(
        ({ ctx, input }): Promise<SpendOutcome> =>
          verbsOf(ctx.caller.botId).spend({ ...input, note: input.note ?? null }),
      ),

    /** The current end of the ledger. A watch from it includes everything that is recorded after this answer. */
    cursor: backendProcedure.query(
      async ({ ctx }): Promise<{ cursor: string }> => ({ cursor: await verbsOf(ctx.caller.botId).latestCursor() }),
    ),

    /**
     * Each entry once, in commit order: first everything recorded since `lastEventId`, then live. Test events, which
     * pay nothing, are included only with `includeTests`; a cursor is valid with and without it.
     */
    watch: backendProcedure
      .input(
        z.object({
          lastEventId: cursor.nullish(),
          from: z.enum(["start", "now"]).default("now"),
          includeTests: z.boolean().default(false),
        }),
      )
      .subscription(async function* ({ input, signal, ctx }) {
        const from = input.lastEventId ? { cursor: input.lastEventId } : input.from;
        const watch = verbsOf(ctx.caller.botId).watchRewards({ from, includeTests: input.includeTests }, signal);
        if (watch.outcome === "too-many") {
          throw new TRPCError({
            code: "TOO_MANY_REQUESTS",
            message: `${watch.limit} watches are open already: share one connection`,
          });
        }
        try {
          for await (const { cursor: id, entry } of watch.entries) yield tracked(id, entry);
        } catch (error) {
          if (!(error instanceof LostCursorError)) throw unavailableOr(error, ctx);
          throw new TRPCError({ code: "PRECONDITION_FAILED", message: lostCursor, cause: error });
        }
        // The server stops. A normal end would mean that there is no more; this error makes the client reconnect.
        if (!signal?.aborted) throw new TRPCError({ code: "SERVICE_UNAVAILABLE", message: "restarting" });
      }),
  });
};
