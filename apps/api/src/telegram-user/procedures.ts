import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { publicProcedure, router } from "../trpc.ts";
import type { SignInOutcome } from "./sign-in-outcome.ts";

export interface TelegramUserVerbs {
  signIn(initData: string, address: string): SignInOutcome | { outcome: "too-many" };
}

export const telegramUserProcedures = (verbs: TelegramUserVerbs) =>
  router({
    /** Exchanges Telegram's signed launch data for a session token of that user. */
    signIn: publicProcedure
      .input(z.object({ initData: z.string().min(1).max(8192) }))
      .mutation(({ ctx, input }): SignInOutcome => {
        const result = verbs.signIn(input.initData, ctx.address);
        if (result.outcome !== "too-many") return result;
        throw new TRPCError({ code: "TOO_MANY_REQUESTS", message: "too many sign-ins; try again in a minute" });
      }),
  });
