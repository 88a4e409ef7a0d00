import type { z } from "zod";
import type { FieldFault, FieldFaultCode } from "./field-faults.ts";
import { fieldFault, forms } from "./field-forms.ts";

/** The fault of a value, as zod has found it; undefined if only its message tells it. */
export function faultOfIssue(issue: z.core.$ZodIssue): FieldFault | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? fieldFault("MISSING") : faultOfType(issue.expected);
    case "invalid_value":
      if (issue.input === undefined) return fieldFault("MISSING");
      return fieldFault("ONE_OF", { words: issue.values.map(String).join(", ") });
    case "too_small":
      return faultOfSize(issue.origin, { min: String(issue.minimum) });
    case "too_big":
      return faultOfSize(issue.origin, { max: String(issue.maximum) });
    case "invalid_format":
      return faultOfFormat(issue);
    case "unrecognized_keys":
      return fieldFault("UNKNOWN_FIELDS", { names: issue.keys.join(", ") });
    case "custom":
      return faultOfParams(issue.params);
    default:
      return undefined;
  }
}

function faultOfType(expected: string): FieldFault | undefined {
  switch (expected) {
    case "string":
      return fieldFault("TEXT");
    case "number":
      return fieldFault("NUMBER");
    case "int":
      return fieldFault("WHOLE_NUMBER");
    case "boolean":
      return fieldFault("TRUE_OR_FALSE");
    case "array":
      return fieldFault("LIST");
    case "object":
    case "record":
      return fieldFault("OBJECT");
    default:
      return undefined;
  }
}

function faultOfSize(origin: string, bound: { min: string } | { max: string }): FieldFault {
  if (origin === "string") {
    if ("max" in bound) return fieldFault("CHARACTERS_AT_MOST", bound);
    return bound.min === "1" ? fieldFault("EMPTY") : fieldFault("CHARACTERS_AT_LEAST", bound);
  }
  if (origin === "array") {
    return "max" in bound ? fieldFault("ENTRIES_AT_MOST", bound) : fieldFault("ENTRIES_AT_LEAST", bound);
  }
  return "max" in bound ? fieldFault("AT_MOST", bound) : fieldFault("AT_LEAST", bound);
}

function faultOfFormat({ format, pattern }: { format: string; pattern?: string }): FieldFault | undefined {
  if (format === "email") return fieldFault("EMAIL");
  if (format === "url") return fieldFault("NOT_AN_ADDRESS");
  if (format === "datetime") return fieldFault("MOMENT");
  const named = Object.entries(forms).find(([, form]) => String(form) === pattern);
  // The key is one of the table.
  if (named !== undefined) return { code: named[0] as FieldFaultCode, values: {} };
  return format === "regex" ? fieldFault("ID") : undefined;
}

/** Of a rule of our own, which says its fault by `params`. */
function faultOfParams(params: Readonly<Record<string, unknown>> | undefined): FieldFault | undefined {
  if (params === undefined) return undefined;
  if ("momentFault" in params) return fieldFault("MOMENT");
  const { code, values } = params as Partial<FieldFault>;
  return code === undefined || values === undefined ? undefined : { code, values };
}
