import type { z } from "zod";
import { HttpError } from "./http-server.ts";

/** Returns the parsed value; else throws 400 with each field and its rule, and never the value that was sent. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map(({ path, message }) => ({ field: path.join(".") || "body", message }));
  const faults = details.map(({ field, message }) => (field === "body" ? message : `${field}: ${message}`));
  throw new HttpError(400, "BAD_REQUEST", faults.join("; "), { details });
}

/** The same object without undefined fields: an absent field is not changed. */
export function givenFields<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  const given: Partial<Fields> = { ...fields };
  for (const name in given) if (given[name] === undefined) delete given[name];
  return given as { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };
}
