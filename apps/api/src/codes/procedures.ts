import { personId } from "@intermission/ad-core/wire-fields";
import type { CreateCodeOutcome } from "@intermission/publisher/companion";
import { z } from "zod";
import { backendProcedure, router, storableText } from "../trpc.ts";

export const codeProcedures = router({
  /** Requests the user's code from the ad service, with the links that carry it. A repeat returns the open code. */
  create: backendProcedure
    .input(z.object({ userId: personId, reference: storableText(128).optional() }))
    .mutation(
      ({ ctx, input }): Promise<CreateCodeOutcome> =>
        ctx.bot.createCode({ userId: input.userId, reference: input.reference }),
    ),
});
