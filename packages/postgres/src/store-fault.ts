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
 * The embedded engine could not start or ended unexpectedly. `lastWords` are the last lines of its log: PostgreSQL's own
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
  if (isFull(death)) {
    return new StoreFault(
      `the disk of ${folder} is full (${words}): free some space, then start again; what was acknowledged is kept`,
      { cause: death },
    );
  }
  return new StoreFault(
    `the embedded database in ${folder} has failed (${words}): start again; what was acknowledged is kept. If it fails again, restore the folder from a backup`,
    { cause: death },
  );
}

/** The first failure may be in an earlier line, so all lines are checked. */
function isFull(death: unknown): boolean {
  const lines = death instanceof EngineDeath ? death.lastWords : [];
  return [messageOf(death), ...lines].some((line) =>
    /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/.test(line),
  );
}

/** One line: the last PANIC or FATAL of the engine with its detail, or else the error itself. */
export function wordsOf(error: unknown): string {
  const lines = error instanceof EngineDeath ? error.lastWords : [];
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
