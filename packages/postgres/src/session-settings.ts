/*
 * The settings of each session, whatever a role, a database or a server says. They are set by SQL, because `?options=` in an
 * address overrides start-up parameters and poolers refuse them.
 */

/** Values have one text form everywhere: the driver parses only ISO dates, and an export must mean the same on another server. */
const sameText = `set timezone to 'UTC'; set datestyle to 'ISO, MDY'; set intervalstyle to 'postgres';
  set extra_float_digits to 1; set bytea_output to 'hex'; set client_encoding to 'UTF8'; set standard_conforming_strings to on`;

/** Connections wait in a pool and for notifications. `transaction_timeout` is new in PostgreSQL 17. */
const sameLimits = `set lock_timeout to 0; set idle_session_timeout to 0;
  select set_config('transaction_timeout', '0', false) where current_setting('server_version_num')::int >= 170000`;

/** A statement sees what was committed before it; what is acknowledged is on the disk, of standbys as well where they are named. */
const samePromises = `set default_transaction_isolation to 'read committed';
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;

/** What changes the meaning of expressions, or leaves rows out. */
const sameMeaning = `set array_nulls to on; set transform_null_equals to off; set backslash_quote to 'safe_encoding';
  set gin_fuzzy_search_limit to 0; set row_security to off; set xmloption to 'content'`;

/** Methods of the planner that a role has switched off for another application. By name: categories are translated. */
const samePlans = `select set_config(name, boot_val, false) from pg_settings
  where context = 'user' and (name like 'enable\\_%' or name in ('geqo', 'from_collapse_limit', 'join_collapse_limit',
    'constraint_exclusion', 'cursor_tuple_fraction')) and setting is distinct from boot_val`;

const sameEverywhere = `${sameText}; ${sameLimits}; ${samePromises}; ${sameMeaning}; ${samePlans}`;

/** Of a connection that moves the rows of a store. */
export const movingSettings = `${sameEverywhere}; set statement_timeout to 0; set idle_in_transaction_session_timeout to 0`;

/** Of the connection that listens. */
export const listeningSettings = sameLimits;

/**
 * Of the connections that work on a schema.
 *
 * Prepared statements are planned once: planning takes longer than running them (measured: 4 of 5 ms for recording a few
 * deliveries). A plan made while a table was empty stays in use after it has grown. Disabling sequential scans and merge
 * joins keeps these generic plans safe. A statement that reads whole tables, such as a report, enables sequential scans
 * with `set local enable_seqscan`.
 */
export function sessionSettings(schema: string): string {
  return `${sameEverywhere}; set search_path to ${schema}; set jit to off;
    set plan_cache_mode to force_generic_plan; set enable_seqscan to off; set enable_mergejoin to off`;
}
