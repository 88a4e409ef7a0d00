import { ledgerEventType } from "@intermission/ad-core/event-words";
import { personId, telegramId } from "@intermission/ad-core/wire-fields";
import type { RewardPage, SpendOutcome } from "@intermission/publisher/companion";
import { TRPCError, tracked } from "@trpc/server";
import { z } from "zod";
import { backendProcedure, router, storableText, subjectOf, unavailableOr, userOrBackendProcedure } from "../trpc.ts";
import { LostCursorError, type RewardStatus, type Verbs } from "../verbs.ts";

const lostCursor =
  "the ledger was restored from a backup that is older than this cursor: watch from the start, and skip the eventIds that you have";

const MAX_AMOUNT = 1_000_000_000;

const cursorText = z.string().max(200);

export const ledgerProcedures = router({
  /** The outcome of a code; without a code, of the user's newest event. */
  status: userOrBackendProcedure
    .input(
      z.object({
        code: storableText(64).optional(),
        userId: telegramId.optional(),
        event: ledgerEventType.optional(),
      }),
    )
    .query(({ ctx, input }): Promise<RewardStatus> => {
      const userId = subjectOf(ctx.caller, input.userId);
      if (userId === undefined && input.code === undefined) {
        throw new TRPCError({ code: "BAD_REQUEST", message: "name a code or a userId" });
      }
      return ctx.bot.getRewardStatus({ userId, code: input.code, event: input.event });
    }),

  list: userOrBackendProcedure
    .input(
      z.object({
        userId: telegramId.optional(),
        cursor: cursorText.optional(),
        limit: z.int().min(1).max(100).default(20),
      }),
    )
    .use(({ ctx, input, next }) => {
      checkCursor("cursor", input.cursor, ctx.bot);
      return next();
    })
    .query(
      ({ ctx, input }): Promise<RewardPage> =>
        ctx.bot.listRewards({
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
      return { balance: await ctx.bot.getBalance(userId) };
    }),

  /** Takes units from a user. The key makes a repeat safe: it returns the answer of the first call. */
  spend: backendProcedure
    .input(
      z.object({
        userId: personId,
        amount: z.int().min(1).max(MAX_AMOUNT),
        idempotencyKey: storableText(128),
        note: storableText(200).optional(),
      }),
    )
    .mutation(({ ctx, input }): Promise<SpendOutcome> => ctx.bot.spend({ ...input, note: input.note ?? null })),

  /** The current end of the ledger. A watch from it includes everything that is recorded after this answer. */
  cursor: backendProcedure.query(
    async ({ ctx }): Promise<{ cursor: string }> => ({ cursor: await ctx.bot.latestCursor() }),
  ),

  /**
   * Each entry once, in commit order: first everything recorded since `lastEventId`, then live. Test events, which
   * pay nothing, are included only with `includeTests`; a cursor is valid with and without it.
   */
  watch: backendProcedure
    .input(
      z.object({
        lastEventId: cursorText.nullish(),
        from: z.enum(["start", "now"]).default("now"),
        includeTests: z.boolean().default(false),
      }),
    )
    .use(({ ctx, input, next }) => {
      checkCursor("lastEventId", input.lastEventId, ctx.bot);
      return next();
    })
    .subscription(async function* ({ input, signal, ctx }) {
      const from = input.lastEventId ? { cursor: input.lastEventId } : input.from;
      const watch = ctx.bot.watchRewards({ from, includeTests: input.includeTests }, signal);
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

/**
 * Refuses a text that is no cursor as the schema refuses other input. The schema cannot: the router's type must not reach
 * the store's code, which reads cursors.
 */
function checkCursor(field: string, text: string | null | undefined, bot: Verbs): void {
  if (text === null || text === undefined || bot.isCursor(text)) return;
  const issue = { code: "custom" as const, path: [field], message: "is not a cursor of this ledger", input: text };
  // tRPC wraps a cause that is no `Error`, which `ZodError` itself is not.
  throw new TRPCError({ code: "BAD_REQUEST", cause: new z.ZodRealError([issue]) });
}
