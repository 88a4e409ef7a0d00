import type { Database } from "@intermission/postgres/open-database";
import { secretBox } from "@intermission/server/secret-box";
import { invitePerson, newPersonId } from "../src/people/people.ts";
import { openSession } from "../src/people/sessions.ts";

/** The headers of a signed-in person of an advertiser. */
export async function signInAdvertiser(
  database: Database,
  { advertiser, now, origin = "http://ads.test" }: { advertiser: string; now: Date; origin?: string },
) {
  const personId = newPersonId();
  const invitation = { email: `${personId.toLowerCase()}@ads.test`, role: "advertiser" as const, advertiser };
  await invitePerson({ database, secretBox: secretBox(Buffer.alloc(32)) }, { personId, invitation, now });
  // The person has accepted the invitation.
  const text = "update people set password_hash = 'x' where person_id = $1";
  await database.run({ name: "", text }, [personId]);
  const { token } = await database.transaction((tx) => openSession(tx, { personId, now }));
  return { cookie: `__Host-operator=${token}`, origin };
}
