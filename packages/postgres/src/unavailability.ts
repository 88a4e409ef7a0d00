import { CommitUnknownError, OverloadedError } from "./group-commits.ts";

/**
 * Why a request cannot be served now, though nothing is wrong with it. `commit-unknown` is a failure of ours around a
 * grouped commit, worth a line in the log; the other two pass by themselves.
 */
export type Unavailability = "overloaded" | "out-of-reach" | "commit-unknown";

/**
 * SQLSTATE (PostgreSQL, appendix A): connection exceptions (08), a role or database that is refused or gone (28, 3D), no
 * resources (53), shut down, crashed or starting (57P), faults of the system under it (58).
 */
const CLASSES = /^(08|28|3D|53|57P|58)/;
const CODES = new Set([
  // Conflicts that were tried again in vain.
  "40001",
  "40P01",
  // A standby, where a primary was before.
  "25006",
  // Our own bounds on a statement and on a transaction that waits.
  "57014",
  "25P03",
]);

/** Of the system: what keeps a connection from being opened, or breaks it. */
const SYSTEM_CODES = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "ENOTCONN"],
]);

/** pg and pg-pool 8 give these no code. */
const MESSAGES = [
  /^Connection terminated/,
  /^timeout (expired|exceeded when trying to connect)$/,
  /^Query read timeout$/,
  /^Client (was closed|has encountered a connection error) and is not queryable$/,
  /^Cannot use a pool after calling end on the pool$/,
  /^The server does not support SSL connections$/,
  /^There was an error establishing an SSL connection$/,
];

const DEEPEST_CAUSE = 8;

/** Whether, and why, an error of this package's stores, or one caused by it, means "ask again later". */
export function unavailabilityOf(error: unknown): Unavailability | undefined {
  if (chainOf(error).some((each) => each instanceof OverloadedError)) return "overloaded";
  if (chainOf(error).some(isOutOfReach)) return "out-of-reach";
  return chainOf(error).some((each) => each instanceof CommitUnknownError) ? "commit-unknown" : undefined;
}

function isOutOfReach(error: Error): boolean {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (CLASSES.test(code) || CODES.has(code) || SYSTEM_CODES.has(code)) return true;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isOutOfReach);
  return MESSAGES.some((message) => message.test(error.message));
}

function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && chain.length < DEEPEST_CAUSE; each = each.cause) chain.push(each);
  return chain;
}
