/**
 * What keeps a store from being opened, or has ended it, and is its operator's to repair: one or more lines of text that
 * say what failed and what to do next. Programs print the message alone, without a stack.
 */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  /** Read by programs that know this package's errors by their form only. */
  readonly isForOperator = true;
}

/**
 * The embedded engine could not start or has ended by itself. `lastWords` is what it wrote to its log: PostgreSQL's own
 * account of a PANIC or FATAL.
 */
export class EngineDeath extends Error {
  override readonly name = "EngineDeath";
  readonly lastWords: readonly string[];

  constructor(message: string, { lastWords, cause }: { lastWords: readonly string[]; cause?: unknown }) {
    super(message, { cause });
    this.lastWords = lastWords;
  }
}

/** What an operator is told of an embedded store in `folder` whose engine has ended. */
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

/** What failed first may stand before the last words: each of them is looked at. */
function isFull(death: unknown): boolean {
  const lines = death instanceof EngineDeath ? death.lastWords : [];
  return [messageOf(death), ...lines].some((line) =>
    /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/.test(line),
  );
}

/** In one line: the last PANIC or FATAL that the engine reported and its detail, else the error itself. */
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
