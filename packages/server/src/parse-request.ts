import { faultOfIssue } from "@intermission/operator-api/fault-of-issue";
import type { FieldFault } from "@intermission/operator-api/field-faults";
import type { z } from "zod";
import { refusal } from "./refuse.ts";

/** Returns the parsed value; else throws 400 with each field and its rule, and never the value that was sent. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  return parsed(schema, value, () => undefined);
}

/** The same for the operator's API: screens say a fault in the reader's language by its code. */
export function parseOperatorRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  return parsed(schema, value, faultOfIssue);
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  faultOf: (issue: z.core.$ZodIssue) => FieldFault | undefined,
): z.infer<Schema> {
  // The input tells a missing value; it is not answered.
  const parsed = schema.safeParse(value ?? {}, { error: describeFault, reportInput: true });
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map((issue) => {
    const { path, message } = issue;
    return { field: path.join(".") || "body", message, ...faultOf(issue) };
  });
  const faults = details.map(({ field, message }) => (field === "body" ? message : `${field}: ${message}`));
  const isMissing = details.some(({ field, message }) => message === missing && !field.includes("."));
  throw refusal(400, "BAD_REQUEST", faults.join("; ") + (isMissing ? namesOf(value) : ""), { details });
}

const missing = "is missing";

/** The rule that a value breaks, where its schema has no words of its own. Undefined leaves the words to zod. */
export function describeFault(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return describeType(issue.expected, issue.input);
    case "invalid_value": {
      if (issue.input === undefined) return missing;
      const words = issue.values.map(String);
      return words.length > 2 ? `must be one of ${words.join(", ")}` : `must be ${words.join(" or ")}`;
    }
    case "too_big":
      return `must ${amountOf(issue.origin, "at most", issue.maximum)}`;
    case "too_small":
      if (issue.origin === "string" && issue.minimum === 1) return "must not be empty";
      return `must ${amountOf(issue.origin, "at least", issue.minimum)}`;
    default:
      return undefined;
  }
}

function describeType(expected: string, input: unknown): string | undefined {
  if (input === undefined) return missing;
  const actual = input === null ? "null" : Array.isArray(input) ? "an array" : `a ${typeof input}`;
  const isText = typeof input === "string";
  switch (expected) {
    case "string":
      return typeof input === "number"
        ? "must be a string, not a number: put it in quotes"
        : `must be a string, not ${actual}${input === null ? "; leave out what there is none of" : ""}`;
    case "number":
    case "int":
      // A word of a query is read as a number before it is judged.
      return isText ? "must be a number, not a string: remove the quotes" : "must be a whole number";
    case "boolean":
      return isText ? "must be true or false, without quotes" : `must be true or false, not ${actual}`;
    case "object":
    case "record":
      return `must be a JSON object, not ${actual}`;
    case "array":
      return `must be an array, not ${actual}`;
    default:
      return undefined;
  }
}

function amountOf(origin: string, bound: string, limit: number | bigint): string {
  if (origin === "string") return `have ${bound} ${limit} characters`;
  return origin === "array" || origin === "set" ? `have ${bound} ${limit} entries` : `be ${bound} ${limit}`;
}

const MAX_NAMES = 8;
const MAX_NAME_LENGTH = 32;

/** The names of what was sent, beside which a misspelled one is seen; never a value. */
function namesOf(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const names = Object.keys(value).slice(0, MAX_NAMES);
  const shown = names.map((name) => JSON.stringify(name.slice(0, MAX_NAME_LENGTH)));
  return `; the request has ${shown.length === 0 ? "no fields" : shown.join(", ")}`;
}

/** The same object without undefined fields: an absent field is not changed. */
export function definedFields<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  const defined: Partial<Fields> = { ...fields };
  for (const name in defined) if (defined[name] === undefined) delete defined[name];
  return defined as { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };
}
