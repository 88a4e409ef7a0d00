import type { AmountReading } from "@intermission/operator-api/amounts";
import type { FieldErrors, FieldValues, Resolver } from "react-hook-form";
import type { z } from "zod";
import { asReceived, type LocalText } from "../operator/local-text.ts";
import { useLanguage } from "../words/word-table.ts";

// The words of faults are many: they are loaded with the first one. If they cannot be loaded, a fault is said in English, and
// what has it is refused all the same.
const loadFaultWords = () => import("../operator/fault-words.ts").catch(() => undefined);

/** Checks a form by the schema of a route's body, with the faults in the reader's language. */
export function useBodyResolver<Values extends FieldValues>(schema: z.ZodType<Values, Values>): Resolver<Values> {
  const language = useLanguage();
  return async (typed) => {
    const parsed = schema.safeParse(typed);
    if (parsed.success) return { values: parsed.data, errors: {} };
    const faults = Object.entries((await faultsOf(schema, typed)) ?? {});
    const errors = faults.map(([field, text]) => [field, { type: "schema", message: text.in(language) }]);
    // The names are those of the schema's fields.
    return { values: {}, errors: Object.fromEntries(errors) as FieldErrors<Values> };
  };
}

/** What is wrong with a body, by field; undefined: nothing. */
export async function faultsOf(
  schema: z.ZodType,
  body: unknown,
): Promise<Readonly<Record<string, LocalText>> | undefined> {
  const { error } = schema.safeParse(body);
  if (error === undefined) return undefined;
  const words = await loadFaultWords();
  if (words !== undefined) return words.faultsOfBody(schema, body);
  const faults = error.issues.map(({ path, message }) => {
    const names = path.filter((part) => typeof part === "string");
    return [names.join("."), asReceived(message)] as const;
  });
  return Object.fromEntries(faults);
}

/** Why an amount is refused. */
export async function faultOfAmount({
  message,
  values,
}: Extract<AmountReading, { outcome: "refused" }>): Promise<LocalText> {
  return (await loadFaultWords())?.faultText({ code: "AMOUNT", values }) ?? asReceived(message);
}
