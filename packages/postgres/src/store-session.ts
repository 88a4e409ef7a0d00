import { randomInt } from "node:crypto";

/*
 * Each process that opens a store has a number. Its sessions carry it as a setting, so that rows can name the process that
 * claimed them, and its listening connection holds a lock of that number: PostgreSQL releases it as soon as the process ends,
 * however that ends, and also while its event loop is blocked the lock stays.
 */

/** The class of the advisory locks; their object is the number. */
const LOCK_CLASS = 1_229_870_157;

export function newSessionNumber(): number {
  return randomInt(1, 2 ** 31 - 1);
}

export function nameSession(sessionNumber: number): string {
  return `set intermission.session to ${sessionNumber}`;
}

/** Shared, since the connection before this one may still be open on the server. */
export function holdSession(sessionNumber: number): string {
  return `select pg_advisory_lock_shared(${LOCK_CLASS}, ${sessionNumber})`;
}

/** SQL for the number of the session that runs a statement; null outside of such sessions. */
export const thisSession = "nullif(current_setting('intermission.session', true), '')::integer";

/** SQL of a query for the numbers of the processes that are connected. */
export const liveSessions = `select objid::bigint::integer as number from pg_locks
    where locktype = 'advisory' and classid = ${LOCK_CLASS} and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())`;
