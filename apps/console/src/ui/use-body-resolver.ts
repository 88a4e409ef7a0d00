import type { FieldErrors, FieldValues, Resolver } from "react-hook-form";
import type { z } from "zod";
import { useLanguage } from "../words/word-table.ts";

/**
 * Checks a form by the schema of a route's body, with the faults in the reader's language: their words are loaded with the
 * first one.
 */
export function useBodyResolver<Values extends FieldValues>(schema: z.ZodType<Values, Values>): Resolver<Values> {
  const language = useLanguage();
  return async (typed) => {
    const parsed = schema.safeParse(typed);
    if (parsed.success) return { values: parsed.data, errors: {} };
    const { faultsOfBody } = await import("../operator/fault-words.ts");
    const faults = Object.entries(faultsOfBody(schema, typed) ?? {});
    const errors = faults.map(([field, text]) => [field, { type: "schema", message: text[language] }]);
    // The names are those of the schema's fields.
    return { values: {}, errors: Object.fromEntries(errors) as FieldErrors<Values> };
  };
}
