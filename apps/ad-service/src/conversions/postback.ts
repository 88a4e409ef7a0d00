import { isStorable, storableForm } from "@intermission/postgres/storable-text";
import { z } from "zod";
import { isUnfilled, type ReadValue, readMicros, readValue } from "./read-value.ts";

type SentValue = Exclude<ReadValue, { outcome: "refused" }> | { outcome: "absent" };

/** In an address, or in JSON. */
function amount(read: (sent: string | number) => ReadValue, rule: string) {
  return z
    .union([z.string(), z.number()])
    .nullish()
    .transform((sent, context): SentValue => {
      if (sent === null || sent === undefined || sent === "") return { outcome: "absent" };
      const value = read(sent);
      if (value.outcome !== "refused") return value;
      context.addIssue({ code: "custom", message: rule });
      return z.NEVER;
    });
}

/** A macro that was not filled in names nothing. */
function word(max: number) {
  return z
    .string()
    .max(max)
    .refine(isStorable, storableForm)
    .default("")
    .transform((text) => (isUnfilled(text.trim()) ? "" : text));
}

export const postback = z
  .object({
    click_id: z.string().min(1).max(64).refine(isStorable, storableForm),
    key: z.string().min(1).max(128).refine(isStorable, storableForm),
    conversion_id: word(128),
    event: word(64),
    value_micros: amount(
      readMicros,
      "must be a whole number of micros from 0 to 100000000000000000: a value of 4.99 is 4990000",
    ),
    // As advertisers' trackers send it.
    value: amount(readValue, "must be an amount from 0 to 100000000000 with a point for its decimals, such as 4.99"),
    currency: word(64).transform((text) => text.trim()),
  })
  .refine(({ value_micros: micros, value }) => micros.outcome !== "value" || value.outcome !== "value", {
    path: ["value"],
    error: "and value_micros are the same amount: send one of them",
  });

/** The value to record; `note` tells the sender that there is none, although one was meant. */
export function valueIn({ value_micros: micros, value }: z.output<typeof postback>): {
  valueMicros: string | null;
  note?: string;
} {
  for (const one of [micros, value]) if (one.outcome === "value") return { valueMicros: one.micros };
  if (micros.outcome === "absent" && value.outcome === "absent") return { valueMicros: null };
  return { valueMicros: null, note: "the value is a macro that was not filled in: the conversion has none" };
}
