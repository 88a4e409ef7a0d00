import type { AmountReading } from "@intermission/operator-api/amounts";
import type { FieldErrors, FieldValues, Resolver } from "react-hook-form";
import type { z } from "zod";
import type { LocalText } from "../operator/local-text.ts";
import { useLanguage } from "../words/word-table.ts";

// The words of faults are many: they are loaded with the first one. If they cannot be loaded, a fault is said in English.
const loadWords = () => import("../operator/fault-words.ts").catch(() => undefined);

/** Checks a form by the schema of a route's body, with the faults in the reader's language. */
export function useBodyResolver<Values extends FieldValues>(schema: z.ZodType<Values, Values>): Resolver<Values> {
  const language = useLanguage();
  return async (typed) => {
    const parsed = schema.safeParse(typed);
    if (parsed.success) return { values: parsed.data, errors: {} };
    const faults = (await loadWords())?.faultsOfBody(schema, typed) ?? {};
    const errors = parsed.error.issues.map(({ path, message }) => {
      const field = path.join(".");
      return [field, { type: "schema", message: faults[field]?.[language] ?? message }];
    });
    // The names are those of the schema's fields.
    return { values: {}, errors: Object.fromEntries(errors) as FieldErrors<Values> };
  };
}

/** Why an amount is refused. */
export async function faultOfAmount({
  message,
  values,
}: Extract<AmountReading, { outcome: "refused" }>): Promise<LocalText> {
  return (await loadWords())?.faultText({ code: "AMOUNT", values }) ?? { en: message, ru: message };
}
