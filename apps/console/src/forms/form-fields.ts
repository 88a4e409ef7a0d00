import { type FormKind, formKinds } from "@intermission/operator-api/form-kinds";
import { z } from "zod";

/** How a field is typed or chosen: by what its value means, or else by the type of its schema. */
export type FieldKind =
  | FormKind
  | "text"
  | "lines"
  | "words"
  | "whole"
  | "seconds"
  | "choice"
  | "choices"
  | "flag"
  | "either";

export interface FormField {
  /** Its path in the body: `dailyCap`, `targeting/hours`. */
  name: string;
  kind: FieldKind;
  /** What an empty field means. */
  empty: "null" | "absent" | "needed";
  /** The words of a choice. */
  options: readonly string[];
}

/** The names of the fields of a body. */
export type FieldName<Body> = {
  [Key in keyof Body & string]-?: NonNullable<Body[Key]> extends infer Value extends object
    ? Value extends readonly unknown[]
      ? Key
      : string extends keyof Value
        ? Key
        : `${Key}/${FieldName<Value>}`
    : Key;
}[keyof Body & string];

/** The fields of a schema, those of its objects one by one. */
export function fieldsOf(schema: z.ZodObject, path: readonly string[] = []): FormField[] {
  return Object.entries(schema.shape).flatMap(([key, value]) => {
    const { inner, empty } = unwrap(value);
    const names = [...path, key];
    if (inner instanceof z.ZodObject) return fieldsOf(inner, names);
    const options = optionsOf(inner instanceof z.ZodArray ? inner.element : inner);
    return [{ name: names.join("/"), kind: kindOf(key, inner, empty), empty, options }];
  });
}

function unwrap(schema: unknown, empty: FormField["empty"] = "needed"): { inner: unknown; empty: FormField["empty"] } {
  if (schema instanceof z.ZodNullable) return unwrap(schema.unwrap(), "null");
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return unwrap(schema.unwrap(), empty === "null" ? "null" : "absent");
  return { inner: schema, empty };
}

function kindOf(key: string, schema: unknown, empty: FormField["empty"]): FieldKind {
  const named = namedKind(schema);
  if (named !== undefined) return named;
  if (schema instanceof z.ZodNumber) return key.endsWith("Seconds") ? "seconds" : "whole";
  if (schema instanceof z.ZodBoolean) return empty === "needed" ? "flag" : "either";
  if (schema instanceof z.ZodEnum) return "choice";
  if (!(schema instanceof z.ZodArray)) return "text";
  if (schema.element instanceof z.ZodEnum) return "choices";
  // Other texts may hold blanks and commas.
  return namedKind(schema.element) === "word" ? "words" : "lines";
}

function namedKind(schema: unknown): FormKind | undefined {
  return schema instanceof z.ZodType ? formKinds.get(schema)?.kind : undefined;
}

function optionsOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodEnum ? schema.options.map(String) : [];
}
