import { stdSerializers } from "pino";
import { type UserNames, withoutUserIds } from "./logged-users.ts";

/** Redacted at any depth: a reader could impersonate someone with them. */
const secretFields = new Set([
  "authorization",
  "cookie",
  "set-cookie",
  "token",
  "init_data",
  "invite_link",
  "inviteLink",
  "initData",
  "secret",
  "x-signature",
  "webhook-signature",
]);
const userFields = new Set(["userId", "user_id", "userIds", "telegramUserId", "telegram_user_id", "chatId", "chat_id"]);
/** Digits that are no user's, and that an operator searches for. */
const otherIds = new Set(["botId", "botIds", "paymentId", "time", "version", "reqId", "requestId"]);

/** `formatters.log` does not see child bindings, so pino redacts these paths of them. Ours are flat. */
export const pathsInBindings = [...secretFields, ...userFields, "code"].flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
]);
/** Deeper values are left out, which also ends cycles. */
const MAX_DEPTH = 8;

/** A direct link's code: 16 or more letters and digits. SQLSTATEs and errnos are shorter, or contain underscores. */
const LINK_CODE = /^[0-9A-Za-z]{16,}$/;

interface Place {
  readonly nameUser: UserNames;
  readonly depth: number;
}

/** A copy of the facts without secrets, and with users as `nameUser` names them. `err` is left to its serializer. */
export function keptFacts(facts: object, nameUser: UserNames): Record<string, unknown> {
  return keptFields(facts, { nameUser, depth: 0 });
}

function keptFields(facts: object, place: Place): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) kept[name] = keptValue(name, value, place);
  return kept;
}

export function keptValue(name: string, value: unknown, place: Place): unknown {
  const { nameUser, depth } = place;
  if (secretFields.has(name.toLowerCase()) || secretFields.has(name)) return "[redacted]";
  if (name === "code") return keptCode(value, depth);
  if (name === "err" && value instanceof Error) return depth === 0 ? value : keptError(value, nameUser);
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint")
    return keptText(name, value, nameUser);
  if (typeof value !== "object" || value === null) return value;
  // Dates and addresses become text by themselves.
  if ("toJSON" in value) return value;
  if (depth === MAX_DEPTH) return "[deeper]";
  const deeper = { nameUser, depth: depth + 1 };
  if (Array.isArray(value)) return value.map((one) => keptValue(name, one, deeper));
  return keptFields(value, deeper);
}

function keptText(name: string, value: string | number | bigint, nameUser: UserNames): string | number | bigint {
  if (userFields.has(name)) return nameUser(String(value));
  return typeof value !== "string" || otherIds.has(name) ? value : withoutUserIds(value, nameUser);
}

/** `code` has three meanings: a number is VAST's or HTTP's, text in an error is the error's code, other text is a link's. */
function keptCode(value: unknown, depth: number): unknown {
  if (value === undefined || typeof value === "number") return value;
  return depth > 0 && !LINK_CODE.test(String(value)) ? value : "[redacted]";
}

/** Fields of PostgreSQL errors that quote values of the row. */
const quotingFields = ["detail", "where", "internalQuery"] as const;

/** An error with its stack and its fields, without values of rows. */
export function keptError(error: unknown, nameUser: UserNames): unknown {
  if (!(error instanceof Error)) return keptValue("", error, { nameUser, depth: 1 });
  const { aggregateErrors, ...serialized } = stdSerializers.err(error);
  for (const field of quotingFields) delete serialized[field];
  return {
    ...keptFields(serialized, { nameUser, depth: 1 }),
    ...(error instanceof AggregateError && { aggregateErrors: error.errors.map((one) => keptError(one, nameUser)) }),
  };
}
