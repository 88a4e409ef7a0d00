import { telegramId } from "@intermission/ad-core/client-api";
import { z } from "zod";
import { backendProcedure, router, storableText } from "../trpc.ts";
import type { CreateCodeOutcome } from "./created-code.ts";

export interface CodeVerbs {
  createCode(wanted: { userId: string; reference: string | undefined }): Promise<CreateCodeOutcome>;
}

export const codeProcedures = (verbsOf: (botId: string) => CodeVerbs) =>
  router({
    /** Requests the user's code from the ad service, with the links that carry it. A repeat returns the open code. */
    create: backendProcedure
      .input(z.object({ userId: telegramId, reference: storableText(128).optional() }))
      .mutation(
        ({ ctx, input }): Promise<CreateCodeOutcome> =>
          verbsOf(ctx.caller.botId).createCode({ userId: input.userId, reference: input.reference }),
      ),
  });
