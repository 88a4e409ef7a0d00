import { telegramId } from "@intermission/ad-core/wire-fields";
import { slowDown } from "@intermission/server/rate-limiter";
import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { publicProcedure, router } from "../trpc.ts";
import type { SignInOutcome } from "../verbs.ts";

export const telegramUserProcedures = router({
  /** Exchanges Telegram's signed launch data for a session token of that user of the bot; by default, of BOT_ID. */
  signIn: publicProcedure
    .input(z.object({ initData: z.string().min(1).max(8192), botId: telegramId.optional() }))
    .mutation(({ ctx, input }): SignInOutcome => {
      const result = ctx.signIn(input.botId, input.initData, ctx.address);
      if (result.outcome === "unknown-bot") throw new TRPCError({ code: "NOT_FOUND", message: result.message });
      if (result.outcome !== "too-many") return result;
      const message = `too many sign-ins; try again in ${result.waitSeconds} s`;
      throw new TRPCError({ code: "TOO_MANY_REQUESTS", message, cause: slowDown(result.waitSeconds) });
    }),
});
