import pg from "pg";
import { expect, test } from "vitest";
import { CommitUnknownError, OverloadedError } from "./group-commits.ts";
import { EngineDeath, faultOfDeath, unavailabilityOf } from "./store-faults.ts";

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError("it failed", 9, "error"), { code });
}
function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code });
}

test.each(["08006", "08P01", "53300", "53100", "57P01", "57P02", "57P03", "58030", "40001", "40P01", "25006", "57014"])(
  "SQLSTATE %s means that the database is unreachable",
  (code) => expect(unavailabilityOf(databaseError(code))).toBe("out-of-reach"),
);

test.each(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH"])(
  "%s means that the database is unreachable",
  (code) => expect(unavailabilityOf(systemError(code))).toBe("out-of-reach"),
);

test.each([
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Query read timeout",
  "Client has encountered a connection error and is not queryable",
])("pg's %j means that the database is unreachable", (message) => {
  expect(unavailabilityOf(new Error(message))).toBe("out-of-reach");
});

test("causes are checked, and so are the errors of both addresses of a host", () => {
  expect(unavailabilityOf(new Error("failed", { cause: systemError("EPIPE") }))).toBe("out-of-reach");
  const both = new AggregateError([systemError("ECONNREFUSED"), systemError("ECONNREFUSED")]);
  expect(unavailabilityOf(both)).toBe("out-of-reach");
});

test("a full queue, an unknown commit because of an outage, and any other unknown commit are distinguished", () => {
  expect(unavailabilityOf(new OverloadedError("full"))).toBe("overloaded");
  const lost = new CommitUnknownError("lost", { cause: databaseError("57P01") });
  expect(unavailabilityOf(lost)).toBe("out-of-reach");
  expect(unavailabilityOf(new CommitUnknownError("failed", { cause: databaseError("42P01") }))).toBe("commit-unknown");
});

test.each(["23505", "22P02", "42601", "42P01", "25P02", "XX000"])(
  "SQLSTATE %s is not an outage but an error of ours",
  (code) => {
    expect(unavailabilityOf(databaseError(code))).toBeUndefined();
  },
);

test("programming errors and values that are not errors are not outages", () => {
  for (const error of [new TypeError("x is not a function"), new Error("the connection broke"), "ECONNREFUSED", null]) {
    expect(unavailabilityOf(error)).toBeUndefined();
  }
  const circular = new Error("circular");
  circular.cause = circular;
  expect(unavailabilityOf(circular)).toBeUndefined();
});

test("a dead database's reason is its own last failure, not what clients were answered meanwhile", () => {
  const lastWords = [
    '2026-01-01 UTC [7] FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device',
    "2026-01-01 UTC [8] FATAL:  the database system is not yet accepting connections",
    "2026-01-01 UTC [8] DETAIL:  Recovery snapshot is not yet ready for hot standby.",
  ];
  expect(faultOfDeath("/data/postgres", new EngineDeath("postgres ended with 1", { lastWords })).message).toMatch(
    /^the disk of \/data\/postgres is full \(FATAL: could not write to file "pg_wal\/xlogtemp.7": No space/,
  );
});
