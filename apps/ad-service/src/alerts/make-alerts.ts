import { type AlertCause, alertCauses, momentaryCauses, rolesOfCause } from "@intermission/operator-api/alerts";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { isPayable } from "../money/earnings.ts";
import { settledUntil } from "../money/ledger.ts";
import { monthBefore } from "../money/months.ts";
import { type Condition, readConditions, readDuePayouts } from "./conditions.ts";

/** How long what people were told is kept. */
const KEPT_DAYS = 90;
/** A message that was not sent for so long is news no more. */
const NEWS_HOURS = 24;

const tryLock = statement<{ isFirst: boolean }>(
  "alerts.try-lock",
  `select pg_try_advisory_xact_lock(hashtextextended('alerts', 0)) as "isFirst"`,
);
const begin = statement<{ cause: string; objectId: string }>(
  "alerts.begin-conditions",
  `insert into alert_conditions (cause, object_id, since)
   select cause, object_id, $3 from unnest($1::text[], $2::text[]) as held (cause, object_id)
   on conflict do nothing returning cause, object_id as "objectId"`,
);
// Unnamed, since it reads the whole of a small table.
const end: Statement<never> = {
  name: "",
  text: `delete from alert_conditions where cause = any ($1)
     and (cause, object_id) not in (select cause, object_id from unnest($2::text[], $3::text[]) as held (cause, object_id))`,
};

/** SQL: the channels beside the console that a person has not muted for a cause. */
export const unmuted = (cause: string) => `array(
     select channel from unnest(array['email', 'telegram']) as channel
     where not ${cause} || ' ' || channel = any (coalesce(muted, '{}'))
       and (channel <> 'telegram' or telegram_chat_id is not null))`;
/** SQL: null, unless the person has muted the cause in the console. */
export const readAt = (cause: string, now: string) =>
  `case when ${cause} || ' console' = any (coalesce(muted, '{}')) then ${now} end`;

/** SQL: an invitation was accepted. Whoever has its address alone, which may be mistyped, is told nothing. */
const hasAccount = `(password_hash is not null
       or exists (select from person_passkeys as passkeys where passkeys.person_id = people.person_id)
       or exists (select from person_identities as identities where identities.person_id = people.person_id))`;

// $6 and $7: which role is told of which cause.
const make: Statement<never> = {
  name: "",
  text: `insert into alerts (person_id, cause, object_id, facts, made_at, read_at, unsent)
     select person_id, made.cause, object_id, facts::jsonb, $8::timestamptz, ${readAt("made.cause", "$8::timestamptz")},
       ${unmuted("made.cause")}
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
       as made (cause, object_id, facts, advertiser_id, bot_id)
     join unnest($6::text[], $7::text[]) as rule (cause, role) on rule.cause = made.cause
     join people on people.role = rule.role and not is_disabled and ${hasAccount}
       and (people.role <> 'advertiser' or people.advertiser_id = made.advertiser_id)
       and (people.role <> 'publisher' or made.bot_id = any (people.bot_ids))
     left join alert_settings using (person_id)`,
};
const rules = alertCauses.flatMap((cause) => rolesOfCause[cause].map((role) => ({ cause, role })));

const forget: Statement<never> = {
  name: "",
  text: `delete from alerts where alert_id in (select alert_id from alerts order by alert_id limit 1000)
     and made_at < $1::timestamptz - interval '${KEPT_DAYS} days'`,
};
const dropOld: Statement<never> = {
  name: "",
  text: `update alerts set unsent = '{}' where unsent <> '{}' and made_at < $1::timestamptz - interval '${NEWS_HOURS} hours'`,
};

export interface MakeAlerts {
  now: Date;
  currency: string;
  /** Whether payouts are looked at, too: that reads the whole ledger. */
  withPayouts: boolean;
}

/**
 * Reads the conditions of this moment, and writes an alert for each person concerned when a condition begins. One node at a
 * time does it, by a lock; the others return false.
 */
export async function makeAlerts(database: Pick<Database, "transaction">, of: MakeAlerts): Promise<boolean> {
  const { now, currency, withPayouts } = of;
  return database.transaction(async (tx) => {
    if ((await tx.run(tryLock, []))[0]?.isFirst !== true) return false;
    const conditions = await readConditions(tx, { now, currency });
    if (withPayouts) {
      const isSettled = isPayable(monthBefore(now), { settled: await settledUntil(tx), now });
      conditions.push(...(await readDuePayouts(tx, { now, currency, isSettled })));
    }
    const isLooked = (cause: AlertCause) =>
      !momentaryCauses.some((one) => one === cause) && (withPayouts || cause !== "payout-due");
    const looked = alertCauses.filter(isLooked);
    const [causes, objects] = [conditions.map(({ cause }) => cause), conditions.map(({ objectId }) => objectId)];
    await tx.run(end, [looked, causes, objects]);
    const begun = await tx.run(begin, [causes, objects, now]);
    const isNew = ({ cause, objectId }: Condition) =>
      begun.some((one) => one.cause === cause && one.objectId === objectId);
    await tell(tx, conditions.filter(isNew), now);
    await tx.run(forget, [now]);
    await tx.run(dropOld, [now]);
    return true;
  });
}

/** Notifies the people whom a cause concerns, in the transaction that stores the cause. */
export async function tell(
  tx: Transaction,
  conditions: readonly (Omit<Condition, "cause"> & { cause: AlertCause })[],
  now: Date,
): Promise<void> {
  if (conditions.length === 0) return;
  await tx.run(make, [
    conditions.map(({ cause }) => cause),
    conditions.map(({ objectId }) => objectId),
    conditions.map(({ facts }) => JSON.stringify(facts)),
    conditions.map(({ advertiserId }) => advertiserId),
    conditions.map(({ botId }) => botId),
    rules.map(({ cause }) => cause),
    rules.map(({ role }) => role),
    now,
  ]);
}
