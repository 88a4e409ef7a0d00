import { rolesSeenBy } from "@intermission/operator-api/access";
import type { Person } from "@intermission/operator-api/session";
import { type Author, audit, changeAudited, openChange } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
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
  { session, personId, author, now }: { session: Session; personId: string; author: Author; now: Date },
): Promise<ImpersonateOutcome> {
  return database.transaction<ImpersonateOutcome>(async (tx) => {
    const change = await openChange(tx, author, personId);
    const person = await findPerson(tx, personId);
    if (person === undefined) return { outcome: "unknown-person" };
    if (person.isDisabled) return { outcome: "disabled" };
    if (!rolesSeenBy[session.person.role].includes(person.role)) return { outcome: "out-of-reach" };
    const until = new Date(now.getTime() + IMPERSONATION_MS);
    if ((await tx.run(start, [session.tokenHash, personId, until])).length > 0) await audit(tx, change);
    return { outcome: "started", person, until };
  });
}

const end = statement<{ one: number }>(
  "people.end-impersonation",
  `update person_sessions set impersonated_id = null, impersonated_until = null where token_hash = $1 and impersonated_id = $2
   returning 1 as one`,
);

/** The session is its own person's again. */
export async function endImpersonation(
  database: Database,
  { session, author }: { session: Session; author: Author },
): Promise<void> {
  const { personId: objectId } = session.person;
  const values = [session.tokenHash, objectId];
  await changeAudited(database, { objectId, author }, { statement: end, values });
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
  insert into audit_entries (actor, actor_name, operation, object_kind, object_id, object_name, before, after, address, request_id)
  select ended.person_id, people.email, 'endImpersonation', 'person', impersonated_id, seen.email,
    jsonb_build_object('seen_by', jsonb_build_object(people.email, until)), jsonb_build_object('seen_by', null), 'expired', 'expired'
  from ended join people on people.person_id = ended.person_id
  left join people as seen on seen.person_id = ended.impersonated_id
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
