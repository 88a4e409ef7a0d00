import { CommitUnknownError, OverloadedError } from "./group-commits.ts";
import { isOfStore } from "./run-transaction.ts";

/**
 * A fault that prevents opening a store, or that ended it, and that the operator can repair. The message is one or more
 * lines: what failed and what to do next. Programs print only the message, without a stack.
 */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  /** For programs that recognize errors of this package by this property instead of their class. */
  readonly isForOperator = true;
}

/**
 * The embedded database could not start or ended unexpectedly. `lastWords` are the last lines of its log: PostgreSQL's own
 * report of a PANIC or FATAL.
 */
export class EngineDeath extends Error {
  override readonly name = "EngineDeath";
  readonly lastWords: readonly string[];

  constructor(message: string, { lastWords, cause }: { lastWords: readonly string[]; cause?: unknown }) {
    super(message, { cause });
    this.lastWords = lastWords;
  }
}

/** The message for the operator about an embedded store in `folder` whose engine has ended. */
export function faultOfDeath(folder: string, death: unknown): StoreFault {
  const words = wordsOf(death);
  if (isDiskFull(death)) return diskFull(folder, words, death);
  return new StoreFault(
    `the embedded database in ${folder} has failed (${words}): start again; what was acknowledged is kept. If it fails again, restore the folder from a backup`,
    { cause: death },
  );
}

/** The message about a statement that the embedded store's full disk has failed; undefined for another error. */
export function faultOfCluster(folder: string, error: unknown): StoreFault | undefined {
  if (!(error instanceof Error && "code" in error && error.code === "53100")) return undefined;
  return diskFull(folder, error.message, error);
}

function diskFull(folder: string, words: string, cause: unknown): StoreFault {
  return new StoreFault(
    `the disk of ${folder} is full (${words}): free some space, or remove files where \`df -i\` shows that no more can be made, then start again; what was acknowledged is kept`,
    { cause },
  );
}

/** The first failure may be in an earlier line, so all lines are checked. */
export function isDiskFull(death: unknown): boolean {
  const lines = death instanceof EngineDeath ? death.lastWords : [];
  return [messageOf(death), ...lines].some((line) =>
    /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/.test(line),
  );
}

/** One line: the last PANIC or FATAL of the engine with its detail, or else the error itself. */
export function wordsOf(error: unknown): string {
  const all = error instanceof EngineDeath ? error.lastWords : [];
  // What clients were answered that tried to connect meanwhile.
  const lines = all.filter((line) => !/FATAL: +the database system is /.test(line));
  const index = lines.findLastIndex((line) => /\b(PANIC|FATAL): /.test(line));
  const [last, next] = index === -1 ? [] : lines.slice(index);
  const detail = /\bDETAIL: +(.*)$/.exec(next ?? "")?.[1];
  const words = last === undefined ? messageOf(error) : last.replace(/^.*?\b(?=(PANIC|FATAL): )/, "");
  return [words.replaceAll(/\s+/g, " "), ...(detail === undefined ? [] : [detail])].join("; ").replace(/\.$/, "");
}

function messageOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words.split("\n", 1)[0] ?? words;
}

/**
 * Why a valid request cannot be served now. `commit-unknown` is an error of ours around a grouped commit, which should be
 * logged; the other two are temporary.
 */
export type Unavailability = "overloaded" | "out-of-reach" | "commit-unknown";

/**
 * SQLSTATE (PostgreSQL, appendix A): connection exceptions (08), a refused or missing role or database (28, 3D),
 * insufficient resources (53), a server that is shut down, crashed or starting (57P), system errors (58).
 */
const CLASSES = /^(08|28|3D|53|57P|58)/;
const CODES = new Set([
  // Conflicts that remained after all retries.
  "40001",
  "40P01",
  // The server is now a standby, and was a primary before.
  "25006",
  // Our own timeouts of a statement and of an idle transaction.
  "57014",
  "25P03",
]);

/** System errors that prevent or break a connection. */
const SYSTEM_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "ENOTCONN",
]);

/** Errors of pg and pg-pool 8, which have no code. */
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

/** Whether, and why, an error of this package's stores, or one caused by it, means that the caller should retry later. */
export function unavailabilityOf(error: unknown): Unavailability | undefined {
  if (chainOf(error).some((each) => each instanceof OverloadedError)) return "overloaded";
  if (chainOf(error).some(isOutOfReach)) return "out-of-reach";
  return chainOf(error).some((each) => each instanceof CommitUnknownError) ? "commit-unknown" : undefined;
}

/** Whether the error, or one that caused it, shows that the database cannot be reached: not another party of this process. */
export function isStoreOutage(error: unknown): boolean {
  return chainOf(error).some((each) => isOfStore(each) && isOutOfReach(each));
}

function isOutOfReach(error: Error): boolean {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (CLASSES.test(code) || CODES.has(code) || SYSTEM_CODES.has(code)) return true;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isOutOfReach);
  if (isRecovering(error) || lacksPartition(error)) return true;
  return MESSAGES.some((message) => message.test(error.message));
}

/*
 * SQLSTATEs that have other meanings as well are told apart by the function of PostgreSQL's source that reported the error:
 * the message is in the server's language (`lc_messages`).
 */

/** A standby, or a restored server that still replays its log: it has no position in a log of its own. */
export function isRecovering(error: Error): boolean {
  return isOf(error, "55000", /^pg_(current_wal_|walfile_name)/);
}

/** No partition takes the row: the clock jumped by weeks, and the partitions follow within seconds. */
function lacksPartition(error: Error): boolean {
  return isOf(error, "23514", /^ExecFindPartition$/);
}

function isOf(error: Error, sqlState: string, reportedBy: RegExp): boolean {
  if (!("code" in error && "routine" in error)) return false;
  return error.code === sqlState && reportedBy.test(String(error.routine));
}

function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && chain.length < DEEPEST_CAUSE; each = each.cause) chain.push(each);
  return chain;
}
