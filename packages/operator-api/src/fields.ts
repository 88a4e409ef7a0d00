import { hasUserInfo } from "@intermission/ad-core/web-address";
import { isTimeZone, momentInput } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { fieldFault, forms } from "./field-forms.ts";
import { formKinds } from "./form-kinds.ts";

/** A moment in an answer: text of RFC 3339 in UTC in JSON, a `Date` for the server and for who parses the answer. */
export const moment = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (at) => at.toISOString(),
});

/** An amount in an answer, in millionths of the currency. The largest sums keep all their digits in JSON. */
export const micros = z
  .custom<number>((value) => typeof value === "bigint" || Number.isInteger(value), "must be a whole number of micros")
  .meta({ type: "integer", description: "In millionths of the currency." });

/** How many of each kind, by the kind's word. */
export const counts = z.record(z.string(), z.int());

/** The number of entries of a list, when the request names none. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

const limitFault = `must be a whole number from 1 to ${MAX_LIMIT}`;
export const listLimitFrom = (count: number) =>
  z.coerce.number(limitFault).int(limitFault).min(1, limitFault).max(MAX_LIMIT, limitFault).default(count);

/** The requested number of entries of a list. */
export const listLimit = listLimitFrom(DEFAULT_LIMIT);

/** The id at which an earlier page of a list ended. */
export const after = z.string().max(512).optional().describe("The `next` of the page before.");

/** The parameters of every list that operators read whole: by default as many entries as one answer may have. */
export const wholeList = {
  after,
  limit: listLimitFrom(MAX_LIMIT),
  order: z.enum(["oldest", "newest"]).default("oldest"),
};

/** The order of a list by one of these values. Rows without the value come last, and those with equal ones by their ids. */
export const sortBy = <const Value extends string>(values: readonly Value[]) =>
  z
    .enum(values.flatMap((value): (Value | `-${Value}`)[] => [value, `-${value}`]))
    .optional()
    .describe("By this, with a minus from the largest value down.");

/** Part of a list's query. */
export const find = (what: string) =>
  z.string().trim().max(128, "must have at most 128 characters").optional().describe(`Words of ${what}, in any case.`);

/** Part of a list's answer. */
export const total = z.int().describe("How many match, on all pages.");

/** Part of a list's answer. */
export const next = z.string().nullable().describe("Send it as `after` for the next page; null: this is the last one.");

/** Trimmed text of 1 to `max` characters. */
export const boundedText = (max: number) =>
  z.string("is needed").trim().min(1, `must have 1 to ${max} characters`).max(max, `must have 1 to ${max} characters`);

/** A short lower-case word, such as the category of a bot: `games`, `real-money`. */
export const shortWord = z
  .string()
  .regex(forms.NAME_WORD, "must be at most 32 lower-case letters, digits and dashes")
  .register(formKinds, { kind: "word" });

/** The id of a campaign or a creative. */
export const listedId = z.string().regex(/^[\w-]{1,64}$/, "must be an id as the lists show it");

/** The query of requests whose effects may need a confirmation: they are refused with 409 until it is true. */
export const confirmation = z.object({
  confirmed: z.stringbool().default(false).describe("Whether effects that are rarely meant are wanted."),
});

export const expectedUpdatedAt = momentInput
  .optional()
  .describe("The `updatedAt` that the caller has read: if it was changed since, nothing is changed (409).");

/** The query of changes of what people read before, and change at the same time. */
export const ofReadVersion = confirmation.extend({ expectedUpdatedAt });

/** The name of a time zone. */
export const timeZone = z
  .string()
  .refine(isTimeZone, {
    error: "must be a time zone such as Europe/Berlin, or UTC",
    params: fieldFault("TIME_ZONE"),
  })
  .register(formKinds, { kind: "timeZone" });

/** Whether a change has a setting; `nothingToChange` says so of one without. */
export function namesSetting(settings: object): boolean {
  return Object.values(settings).some((value) => value !== undefined);
}

export const nothingToChange = {
  error: "name at least one setting to change",
  params: fieldFault("CHANGE_NOTHING"),
};

/** An address that the ad service or the mini-app calls. Whether it may be reached is decided when it is called. */
export const callableAddress = z
  .url({ protocol: /^https?$/, error: "must be an address as https://example.com/webhooks" })
  .max(2048)
  .refine((address) => !hasUserInfo(address), {
    error: "must not hold a user name or password",
    params: fieldFault("ADDRESS_USER_INFO"),
  })
  .refine((address) => !address.includes("#"), {
    error: "must not hold a fragment",
    params: fieldFault("ADDRESS_FRAGMENT"),
  })
  .register(formKinds, { kind: "address" });

/** Part of a request that records something. */
export const idempotencyKey = z
  .string()
  .regex(/^[\w-]{16,64}$/, "must be 16 to 64 letters, digits, - or _")
  .optional()
  .describe(
    "Chosen by the caller. A request that is repeated with the same key, as after a lost answer, is recorded once.",
  );
