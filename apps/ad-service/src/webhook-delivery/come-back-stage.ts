import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-deliveries.ts";
import { finishDeliveries } from "./finish-deliveries.ts";

const EVENTS_EACH = 3;
const STEP_SECONDS = 5;

// One failure short of an open breaker, with events that are due whenever their endpoint may be sent to.
const addEndpoints = statement<never>(
  "test.come-back",
  `with made as (
    insert into bots (bot_id, code_prefix, name)
    select (900000000 + number)::text, 'Z' || lpad(to_hex(number), 3, '0'), 'Down' from generate_series(1, $1::integer) as number
    returning bot_id
  ),
  reached as (
    insert into endpoints (bot_id, url, state, failures_in_row) select bot_id, 'http://127.0.0.1:9/', 'active', 9 from made
  ),
  claimable as (insert into endpoint_claims (bot_id) select bot_id from made),
  earned as (
    insert into events (bot_id, event_id, event, user_id, code, occurred_at, body)
    select bot_id, 'evt_' || gen_random_uuid(), 'rewarded', '1', 'c' || number, now(), '{}'
    from made, generate_series(1, ${EVENTS_EACH}) as number
    returning bot_id, event_id
  )
  insert into deliveries (bot_id, event_id, state) select bot_id, event_id, 'waiting' from earned`,
);
const pass = statement<never>(
  "test.pass-for-all",
  `update endpoints set probe_at = probe_at - make_interval(secs => $1), window_started_at = window_started_at - make_interval(secs => $1)
   where url = 'http://127.0.0.1:9/'`,
);
const notYet = statement<{ botId: string }>(
  "test.not-yet",
  `select bot_id as "botId" from endpoints where breaker <> 'closed' and probe_at > now() + interval '2 seconds'`,
);

/** Endpoints fail, are probed for an hour, and then answer 200 to everything; time is made to pass, nothing is sent. */
export async function comeBackAtOnce(database: AdDatabase, endpoints: number) {
  const finishing = finishDeliveries(database, () => {});
  const finishAll = (claims: ClaimedDelivery[], isSuccess: boolean) =>
    Promise.all(claims.map((claim) => finishing.submit(ended(claim, isSuccess))));
  const sendAll = async (isSuccess: boolean, onClaims: (claims: ClaimedDelivery[]) => void = () => {}) => {
    while (true) {
      const claims = await claimDeliveries(database, { limit: 256, leaseSeconds: 30 });
      if (claims.length === 0) return;
      onClaims(claims);
      await finishAll(claims, isSuccess);
    }
  };

  await database.run(addEndpoints, [endpoints]);
  await sendAll(false);
  for (let second = 0; second < 3600; second += 60) {
    await database.run(pass, [60]);
    await sendAll(false);
  }

  const sent = new Map<string, number>();
  let early = 0;
  let mostStartsInAStep = 0;
  let steps = 0;
  const isDrained = () => [...sent.values()].filter((number) => number === EVENTS_EACH).length;
  while (isDrained() < endpoints && steps < 100) {
    steps += 1;
    await database.run(pass, [STEP_SECONDS]);
    const sleeping = new Set((await database.run(notYet, [])).map(({ botId }) => botId));
    let starts = 0;
    await sendAll(true, (claims) => {
      for (const { botId } of claims) {
        if (sleeping.has(botId)) early += 1;
        if (!sent.has(botId)) starts += 1;
        sent.set(botId, (sent.get(botId) ?? 0) + 1);
      }
    });
    mostStartsInAStep = Math.max(mostStartsInAStep, starts);
  }
  return { early, drained: isDrained(), secondsToDrain: steps * STEP_SECONDS, mostStartsInAStep };
}

function ended(claim: ClaimedDelivery, isSuccess: boolean) {
  const state = isSuccess ? ("delivered" as const) : ("waiting" as const);
  return {
    ...{ ...claim, state, endReason: null, delaySeconds: isSuccess ? null : 0, isSuccess, restSeconds: null },
    ...{
      startedAt: new Date(),
      address: null,
      status: isSuccess ? 200 : null,
      errorClass: isSuccess ? null : "refused",
    },
    ...{ dnsMs: null, tcpMs: null, tlsMs: null, firstByteMs: null, totalMs: 1, responseText: "" },
  };
}
