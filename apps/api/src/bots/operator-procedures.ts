import { z } from "zod";
import { publicProcedure, router } from "../trpc.ts";
import type { BotAnswer, BotChange, BotVerbs, ListedBot, NewBot } from "./bot-records.ts";

// app.ts serves these only on the socket in the data folder, whose callers are operators. The verbs check the input.
export const operatorProcedures = (verbs: BotVerbs) =>
  router({
    list: publicProcedure.query((): Promise<ListedBot[]> => verbs.listBots()),

    add: publicProcedure.input(z.custom<NewBot>()).mutation(({ input }): Promise<BotAnswer> => verbs.addBot(input)),

    change: publicProcedure
      .input(z.custom<{ botId: string; change: BotChange }>())
      .mutation(({ input }): Promise<BotAnswer> => verbs.changeBot(input.botId, input.change)),
  });
