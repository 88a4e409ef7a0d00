/** SQL that runs as a prepared statement of this name; without a name ("") it is planned each time. `Row`: its rows. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly row?: Row;
}

const known = new Map<string, Statement<unknown>>();

/**
 * Makes a statement. The name, of at most 63 bytes, alone selects the prepared plan of a connection, so this throws if
 * another statement of this process has the same name and another text.
 */
export function statement<Row>(name: string, text: string): Statement<Row> {
  if ((known.get(name)?.text ?? text) !== text) throw new Error(`two statements are called ${name}`);
  const made = { name, text };
  known.set(name, made);
  return made;
}

/**
 * Answers if a prepared statement may write to a table of the schema: a connection alone does not show that requests can be
 * served. It locks no row, and is refused (SQLSTATE 25006) where the database is read-only.
 */
export const ping = statement<never>("ping", "select from commit_epochs where epoch = -1 for update");

/** The statements of all loaded modules. */
export function knownStatements(): readonly Statement<unknown>[] {
  return [...known.values()];
}

export interface Runner {
  /** Runs a statement with bound values. Rejects with pg's DatabaseError, whose `code` is the SQLSTATE. */
  run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
}

/**
 * Inside `transaction`, use this and never the database, whose statement would wait for another connection of a limited
 * pool, and not see the transaction's changes. It throws after the end of its transaction.
 */
export interface Transaction extends Runner {}

export interface Database extends Runner {
  /**
   * Commits when `work` resolves, rolls back when it rejects. It resolves only after a commit: if `work` catches the error
   * of a statement, the transaction is rolled back and rejects. Deadlocks and serialisation failures run `work` again, three
   * times at most.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Notices are hints: some get lost while a connection is down. Returns a function that stops listening. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  notify(channel: string, payload?: string): Promise<void>;
  /**
   * Whether a statement failed for want of space on the disk of the database server (SQLSTATE 53100) since `probeWrites` last
   * succeeded. Only the statement that meets a full disk gets that word where the disk holds the log: the server then ends
   * all sessions and recovers, and other statements just lose their connection.
   */
  readonly disk: { isFull: boolean };
  /** Waits for the statements under way. */
  close(): Promise<void>;
}
