import { type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { readAt, unmuted } from "./make-alerts.ts";

/** From where a person signs in. */
export interface Device {
  /** As it named itself; empty: it did not. */
  name: string;
  /** The address, of IPv6 its /64. */
  network: string;
}

const MAX_DEVICES = 30;

/** Known: this network and this browser, not necessarily together. */
const read = statement<{ isFirst: boolean; isKnown: boolean }>(
  "alerts.read-devices",
  `select count(*) = 0 as "isFirst", coalesce(bool_or(network = $2) and bool_or(browser = $3), false) as "isKnown"
   from person_devices where person_id = $1`,
);
const note = statement<never>(
  "alerts.note-device",
  `insert into person_devices (person_id, network, browser, last_used_at) values ($1, $2, $3, $4)
   on conflict (person_id, network, browser) do update set last_used_at = excluded.last_used_at`,
);
const forget = statement<never>(
  "alerts.forget-devices",
  `delete from person_devices where person_id = $1 and (network, browser) in (
     select network, browser from person_devices where person_id = $1 order by last_used_at desc offset ${MAX_DEVICES})`,
);
const make: Statement<never> = {
  name: "",
  text: `insert into alerts (person_id, cause, object_id, facts, made_at, read_at, unsent)
     select person_id, 'new-device', '', jsonb_build_object('browser', $2::text), $3::timestamptz,
       ${readAt("'new-device'", "$3::timestamptz")}, ${unmuted("'new-device'")}
     from people left join alert_settings using (person_id) where person_id = $1`,
};

/**
 * Tells a person of a sign-in from a browser or a network that the account was not used from before; the first one is none.
 * A part of the transaction that signs in.
 */
export async function noteDevice(
  tx: Transaction,
  { personId, device: { name, network }, now }: { personId: string; device: Device; now: Date },
): Promise<void> {
  const [known] = await tx.run(read, [personId, network, name]);
  await tx.run(note, [personId, network, name, now]);
  await tx.run(forget, [personId]);
  if (known === undefined || known.isFirst || known.isKnown) return;
  await tx.run(make, [personId, [name, network].filter((text) => text !== "").join(", "), now]);
}
