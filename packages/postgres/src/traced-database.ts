import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import pg from "pg";
import type { Runner, Statement } from "./database.ts";
import type { OpenedDatabase } from "./open-database.ts";
import { activeSpan, TRACER } from "./trace-commits.ts";

/**
 * A database whose statements and transactions are spans of the trace that they run in; outside of a trace they are none. A
 * span has the statement's name, never its values, and of an error its SQLSTATE, never its message, which may quote a value.
 */
export function tracedDatabase(database: OpenedDatabase): OpenedDatabase {
  return {
    ...database,
    run: (statement, values) => inSpan(statement.name, () => database.run(statement, values)),
    transaction: (work) => inSpan("transaction", () => database.transaction((tx) => work({ run: tracedRun(tx) }))),
  };
}

function tracedRun(tx: Runner): Runner["run"] {
  return <Row>(statement: Statement<Row>, values: readonly unknown[]) =>
    inSpan(statement.name, () => tx.run(statement, values));
}

function inSpan<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  if (activeSpan() === undefined) return work();
  const summary = name === "" ? "statement without a name" : name;
  const attributes = { "db.system.name": "postgresql", "db.query.summary": summary };
  return trace.getTracer(TRACER).startActiveSpan(summary, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined;
      if (code !== undefined) span.setAttribute("db.response.status_code", code);
      span.setAttribute("error.type", code ?? (error instanceof Error ? error.name : "unknown"));
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
