import { z } from "zod";
import { HttpError } from "./http-server.ts";

const fromOneToThousand = "must be a whole number from 1 to 1000";
/** The requested number of entries of a list. */
export const listLimit = z.coerce
  .number(fromOneToThousand)
  .int(fromOneToThousand)
  .min(1, fromOneToThousand)
  .max(1000, fromOneToThousand)
  .default(50);

/** Trimmed text of 1 to `most` characters. */
export const boundedText = (most: number) =>
  z
    .string("is needed")
    .trim()
    .min(1, `must have 1 to ${most} characters`)
    .max(most, `must have 1 to ${most} characters`);

/** A short lower-case word, such as the category of a bot: `games`, `real-money`. */
export const shortWord = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, "must be at most 32 lower-case letters, digits and dashes");

/** The query of requests whose effects may need a confirmation, see `requireConfirmation`. */
export const confirmation = z.object({
  confirmed: z.stringbool().default(false).describe("Whether effects that are rarely meant are wanted."),
});

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
