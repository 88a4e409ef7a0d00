/** Counts the servers' statements as they are sent, after their parts are put together, and refuses those that are too long. */
import { join } from "node:path";
import { knownStatements } from "../packages/postgres/src/open-database.ts";
import { loadStatements } from "../packages/testing/src/keep-plans.ts";
import { root } from "./processes.ts";
import { explain, Problem } from "./say.ts";

interface Size {
  readonly lines: number;
  /** Common table expressions. */
  readonly parts: number;
}

export const MAX_SIZE: Size = { lines: 100, parts: 12 };

/**
 * The only place for exceptions, each with its size, which may shrink and not grow. Two writes in place of one share a transaction,
 * with three more round trips; one more round trip, for the facts of a click, made it a third dearer (docs/performance.md).
 */
export const exceptions: Readonly<Record<string, Size & { readonly reason: string }>> = {
  "views.record": {
    lines: 123,
    parts: 15,
    reason:
      "a view that ends and its event commit together; its parts are named: locked, holders, unchanged (the comparison), stored, recordBeside (other tables), earned, enqueueWebhook (event, body, delivery, charge)",
  },
};

/** A part begins after "with" or a comma, and has its query in brackets. */
const PART = /(?:\bwith(?: recursive)?|,)\s+\w+(?: \([\w, ]+\))? as (?:(?:not )?materialized )?\(/g;

export function sizeOf(text: string): Size {
  return { lines: text.trim().split("\n").length, parts: [...text.matchAll(PART)].length };
}

/** One line of text for each statement that is too long, and for each exception that none needs any more. */
export function findLongStatements(
  statements: readonly { readonly name: string; readonly text: string }[],
  allowed: Readonly<Record<string, Size>> = exceptions,
): string[] {
  const isWithin = (size: Size, max: Size) => size.lines <= max.lines && size.parts <= max.parts;
  const sizes = new Map(statements.map(({ name, text }) => [name, sizeOf(text)]));
  const long = [...sizes].flatMap(([name, size]) => {
    const max = allowed[name] ?? MAX_SIZE;
    if (isWithin(size, max)) return [];
    return `${name} is sent with ${size.lines} lines and ${size.parts} common table expressions; at most ${max.lines} and ${max.parts} are allowed: decide in TypeScript between two statements, or let a function of the schema do what few rows need`;
  });
  const unneeded = Object.keys(allowed).flatMap((name) => {
    const size = sizes.get(name);
    return size === undefined || isWithin(size, MAX_SIZE)
      ? `${name} needs no exception in scripts/sent-statements.ts`
      : [];
  });
  return [...long, ...unneeded];
}

if (import.meta.main) {
  for (const app of ["ad-service", "api"]) await loadStatements(join(root, "apps", app, "src"), /^(main|cli)\.ts$/);
  const faults = findLongStatements(knownStatements());
  if (faults.length > 0) {
    explain(new Problem(faults.join("\n"), "Each line above names a statement."));
    process.exitCode = 1;
  }
}
