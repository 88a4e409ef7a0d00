/**
 * SQL for rows whose `updated_at` is their version: a change of what was read overwrites no later change.
 * `moment`: a placeholder, such as `$3`.
 */

/** A condition: the row still has the version that was read; null: whichever it has. A `Date` has whole milliseconds. */
export function hasVersion(table: string, moment: string): string {
  return `(${moment}::timestamptz is null or date_trunc('milliseconds', ${table}.updated_at) = ${moment})`;
}

/** The version after a change: later than the one before, also within a millisecond, and by a clock that is behind. */
export function nextVersion(table: string, moment: string): string {
  return `greatest(${moment}::timestamptz, ${table}.updated_at + interval '1 millisecond')`;
}
