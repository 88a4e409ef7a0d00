import { z } from "zod";

/** Base64 for URLs, in parts: all that the formats of the strings have. */
const consentString = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\w.~-]+$/, "may have only letters of the Latin alphabet, digits and . _ ~ -");

/** What a publisher says of a viewer's consent; the strings as its consent platform writes them. */
export const consent = z
  .object({
    gdpr: z.boolean().optional().describe("Whether the law of the European Union applies to the user."),
    tcf: consentString.optional().describe("The string of IAB's Transparency and Consent Framework 2."),
    gpp: consentString.optional().describe("The string of IAB's Global Privacy Platform."),
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
