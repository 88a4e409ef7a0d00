import { z } from "zod";

/** What a publisher says of a viewer's consent; the strings as its consent platform writes them. */
export const consent = z
  .object({
    gdpr: z.boolean().optional().describe("Whether the law of the European Union applies to the user."),
    tcf: z.string().min(1).max(4096).optional().describe("The string of IAB's Transparency and Consent Framework 2."),
    gpp: z.string().min(1).max(4096).optional().describe("The string of IAB's Global Privacy Platform."),
    gpp_sid: z
      .array(z.int().min(-1).max(255))
      .max(16)
      .optional()
      .describe("The sections of it that apply to the user; default: all."),
  })
  .describe(
    "Without it, neither the user's address nor an id goes to a buyer. It holds for the bot's user until another one is given, for two days at most.",
  );
export type Consent = z.output<typeof consent>;
