import { unexpectedAnswer } from "./ads-error.ts";

/** A channel for a user to join, or a bot to start. */
export interface Task {
  /** The webhook's `code`. */
  readonly code: string;
  /**
   * `offered`, `opened`: to be done; `held`: the user has joined, and is to stay; `kept`, `left`: how that ended; `lapsed`, `void`:
   * not done in time, or in a way that does not count.
   */
  readonly state: "offered" | "opened" | "held" | "kept" | "left" | "lapsed" | "void";
  readonly kind: "join" | "start";
  /** The channel's title in Telegram, or the bot's @name. */
  readonly title: string;
  /** The username of a bot or a public channel, without the @. */
  readonly username: string | undefined;
  /** For a `url` button: it leads to a link that is this user's own. */
  readonly url: string;
  readonly expiresAt: string;
  readonly reference: string | undefined;
  readonly holdDays: number;
  /** `joined`: `task` comes with the join, `task_reversed` if the user leaves too early; `kept`: `task` comes after these days. */
  readonly paidAt: "joined" | "kept";
  /** Undefined unless the bot's setting includes it. */
  readonly revenueMicros: number | undefined;
  readonly currency: string | undefined;
}

/** A task by its names on the wire. */
export function taskOf(fields: Readonly<Record<string, unknown>>): Task {
  const { code, state, title, username, url, reference, currency } = fields;
  const texts = [code, state, title, url, fields.expires_at, fields.paid_at];
  if (!texts.every((text) => typeof text === "string")) throw unexpectedAnswer();
  return {
    code: String(code),
    state: state as Task["state"],
    // Earlier versions of the service do not send `kind`.
    kind: fields.kind === "start" ? "start" : "join",
    title: String(title),
    username: username === undefined ? undefined : String(username),
    url: String(url),
    expiresAt: String(fields.expires_at),
    reference: reference === undefined ? undefined : String(reference),
    holdDays: Number(fields.hold_days),
    paidAt: fields.paid_at as Task["paidAt"],
    revenueMicros: typeof fields.revenue_micros === "number" ? fields.revenue_micros : undefined,
    currency: currency === undefined ? undefined : String(currency),
  };
}
