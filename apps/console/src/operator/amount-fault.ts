import type { AmountReading } from "@intermission/operator-api/amounts";
import type { LocalText } from "./local-text.ts";

/** Why an amount is refused. The words are loaded with the first fault; without them it is the English message. */
export async function faultOfAmount({
  message,
  values,
}: Extract<AmountReading, { outcome: "refused" }>): Promise<LocalText> {
  const words = await import("./fault-words.ts").catch(() => undefined);
  return words?.faultText({ code: "AMOUNT", values }) ?? { en: message, ru: message };
}
