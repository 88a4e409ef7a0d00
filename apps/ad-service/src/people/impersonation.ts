import type { Person } from "@intermission/operator-api/people";
import { type Database, statement } from "@intermission/postgres/open-database";
import { nameChangedObject } from "@intermission/postgres/recorded-changes";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { mayImpersonate } from "./may-impersonate.ts";
import { findPerson } from "./people.ts";
import type { Session } from "./sessions.ts";

const IMPERSONATION_MS = 30 * 60_000;
const LOOK_EVERY_MS = 15_000;

export type ImpersonateOutcome =
  | { outcome: "started"; person: Person; until: Date }
  | { outcome: "unknown-person" }
  | { outcome: "disabled" }
  | { outcome: "out-of-reach" };

const start = statement<{ one: number }>(
  "people.start-impersonation",
  `update person_sessions set impersonated_id = $2, impersonated_until = $3 where token_hash = $1 and impersonated_id is null
   returning 1 as one`,
);

/** From now on the session sees what the person sees, for 30 minutes, and changes nothing. */
export async function startImpersonation(
  database: Database,
  { session, personId, now }: { session: Session; personId: string; now: Date },
): Promise<ImpersonateOutcome> {
  nameChangedObject(personId);
  return database.transaction<ImpersonateOutcome>(async (tx) => {
    const person = await findPerson(tx, personId);
    if (person === undefined) return { outcome: "unknown-person" };
    if (person.isDisabled) return { outcome: "disabled" };
    if (!mayImpersonate(session.person.role, person.role)) return { outcome: "out-of-reach" };
    const until = new Date(now.getTime() + IMPERSONATION_MS);
    await tx.run(start, [session.tokenHash, personId, until]);
    return { outcome: "started", person, until };
  });
}

const end = statement<{ one: number }>(
  "people.end-impersonation",
  `update person_sessions set impersonated_id = null, impersonated_until = null where token_hash = $1 and impersonated_id = $2
   returning 1 as one`,
);

/** The session is its own person's again. */
export async function endImpersonation(database: Database, { tokenHash, person }: Session): Promise<void> {
  nameChangedObject(person.personId);
  await database.run(end, [tokenHash, person.personId]);
}

// Written like the entry of the button; no request caused it.
const endExpired = statement<{ one: number }>(
  "people.end-expired-impersonations",
  `with due as (
    select token_hash, person_id, impersonated_id, impersonated_until from person_sessions
    where impersonated_until <= $1 for update skip locked
  ),
  ended as (
    update person_sessions set impersonated_id = null, impersonated_until = null
    from due where person_sessions.token_hash = due.token_hash
    returning due.person_id, due.impersonated_id, due.impersonated_until as until
  )
  insert into audit_entries (actor, actor_name, operation, object_kind, object_id, before, after, address, request_id)
  select ended.person_id, email, 'endImpersonation', 'person', impersonated_id,
    jsonb_build_object('seen_by', jsonb_build_object(email, until)), jsonb_build_object('seen_by', null), 'expired', 'expired'
  from ended join people on people.person_id = ended.person_id
  returning 1 as one`,
);

/** Ends those whose time is over, each with an entry of the audit trail. Requests do not wait for it: they compare the time. */
export async function endExpiredImpersonations(database: Database, now: Date): Promise<number> {
  return (await database.run(endExpired, [now])).length;
}

export function startEndingImpersonations(deps: {
  database: Database;
  log: { error(facts: object, message: string): void };
  now: () => Date;
}): BackgroundLoop {
  const { database, log, now } = deps;
  return startLoop({
    everyMs: LOOK_EVERY_MS,
    async round() {
      await endExpiredImpersonations(database, now());
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "ending what is seen as another person failed"),
  });
}
