import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** The interface of D1 over SQLite; the tests with the tag `long` run D1 itself. */
export class D1OverSqlite {
  readonly #database: DatabaseSync;
  readonly #sql: string;
  readonly #values: SQLInputValue[];
  constructor(database: DatabaseSync, sql = "", values: SQLInputValue[] = []) {
    [this.#database, this.#sql, this.#values] = [database, sql, values];
  }
  prepare = (sql: string) => new D1OverSqlite(this.#database, sql);
  bind = (...values: unknown[]) => new D1OverSqlite(this.#database, this.#sql, values as SQLInputValue[]);
  all = async () => ({ results: this.#database.prepare(this.#sql).all(...this.#values) });
  async batch(statements: D1OverSqlite[]): Promise<void> {
    this.#database.exec("begin immediate");
    try {
      // Statements of SQLite run at once: nothing else comes between them.
      for (const statement of statements) void this.#database.prepare(statement.#sql).all(...statement.#values);
      this.#database.exec("commit");
    } catch (error) {
      this.#database.exec("rollback");
      throw new Error(`D1_ERROR: ${error instanceof Error ? error.message : error}`);
    }
  }
}
