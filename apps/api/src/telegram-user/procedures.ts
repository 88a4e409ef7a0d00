import { z } from "zod";
import { publicProcedure, router } from "../trpc.ts";
import type { SignInOutcome } from "./schema.ts";

export interface TelegramUserVerbs {
  signIn(initData: string): SignInOutcome;
}

export const telegramUserProcedures = (verbs: TelegramUserVerbs) =>
  router({
    /** Exchanges Telegram's signed launch data for a session token of that user. */
    signIn: publicProcedure
      .input(z.object({ initData: z.string().min(1).max(8192) }))
      .mutation(({ input }): SignInOutcome => verbs.signIn(input.initData)),
  });
