import { type Consent, consent as consentForm } from "@intermission/ad-core/consent";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";

/** Consent that was given longer ago says little of what the viewer wants now. */
const MAX_AGE_HOURS = 48;

const store = statement<never>(
  "demand.store-consent",
  `insert into viewer_consents (bot_id, user_id, consent, stated_at) values ($1, $2, $3::jsonb, $4)
   on conflict (bot_id, user_id) do update set consent = excluded.consent, stated_at = excluded.stated_at
   where viewer_consents.stated_at <= excluded.stated_at`,
);
const remove = statement<never>(
  "demand.remove-consent",
  "delete from viewer_consents where bot_id = $1 and user_id = $2",
);
const read = statement<{ consent: unknown }>(
  "demand.read-consent",
  `select consent from viewer_consents where bot_id = $1 and user_id = $2 and stated_at > $3::timestamptz - interval '${MAX_AGE_HOURS} hours'`,
);
const forget = statement<never>(
  "demand.forget-consents",
  `delete from viewer_consents where stated_at <= $1::timestamptz - interval '${MAX_AGE_HOURS} hours'`,
);

interface Viewer {
  botId: string;
  userId: string;
}

/** Stores what the publisher says of a user's consent; null withdraws it. */
export async function storeConsent(
  database: Pick<Transaction, "run">,
  { botId, userId, consent, now }: Viewer & { consent: Consent | null; now: Date },
): Promise<void> {
  if (consent === null) await database.run(remove, [botId, userId]);
  else await database.run(store, [botId, userId, JSON.stringify(consent), now]);
}

/** What was said last of a user's consent; undefined: nothing, or too long ago. */
export async function readConsent(
  database: Pick<Transaction, "run">,
  { botId, userId, now }: Viewer & { now: Date },
): Promise<Consent | undefined> {
  const [found] = await database.run(read, [botId, userId, now]);
  return found === undefined ? undefined : consentForm.safeParse(found.consent).data;
}

/** Removes old consents once an hour, until it is stopped. */
export function startForgettingConsents(deps: {
  database: Pick<Database, "run">;
  log: Pick<FastifyBaseLogger, "error">;
  now: () => Date;
}): BackgroundLoop {
  const { database, log, now } = deps;
  return startLoop({
    everyMs: 3_600_000,
    async round() {
      await database.run(forget, [now()]);
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "old consents could not be removed; trying again in an hour"),
  });
}
