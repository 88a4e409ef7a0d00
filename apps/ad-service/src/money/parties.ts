import {
  type AdvertiserParty,
  noAdvertiserParty,
  noOperatorParty,
  noPayee,
  type OperatorParty,
  type Payee,
} from "@intermission/operator-api/parties";
import { byStoredName, storedName } from "@intermission/operator-api/stored-names";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { definedFields } from "@intermission/server/parse-request";

/** Whose details they are. */
type PartyAccount = "operator" | `advertiser:${string}` | `publisher:${string}`;

const read = statement<{ details: Record<string, unknown> }>(
  "money.read-party",
  "select details from money_parties where account = $1",
);
const write = statement<never>(
  "money.write-party",
  "insert into money_parties (account, details) values ($1, $2) on conflict (account) do update set details = excluded.details",
);

type Reader = Pick<Transaction, "run">;

/** What is not stored is as in `none`. */
async function readParty<Party extends object>(tx: Reader, account: PartyAccount, none: Party): Promise<Party> {
  return partyOf((await tx.run(read, [account]))[0]?.details ?? {}, none);
}

export function partyOf<Party extends object>(details: Readonly<Record<string, unknown>>, none: Party): Party {
  const fields = Object.entries(none).map(([field, value]) => [field, details[storedName(field)] ?? value]);
  // Only `setParty` writes details, of this type.
  return Object.fromEntries(fields) as Party;
}

export const readOperatorParty = (tx: Reader) => readParty(tx, "operator", noOperatorParty);
export const readAdvertiserParty = (tx: Reader, advertiserId: string) =>
  readParty(tx, `advertiser:${advertiserId}`, noAdvertiserParty);
export const readPayee = (tx: Reader, botId: string) => readParty(tx, `publisher:${botId}`, noPayee);

interface PartyChange<Party> {
  account: PartyAccount;
  none: Party;
  /** What is not named stays. */
  changes: { readonly [Field in keyof Party]?: Party[Field] | undefined };
  /** What the caller has seen: if it is otherwise meanwhile, nothing is set. */
  expected?: Party | undefined;
  author?: Author | undefined;
}

/** Statements and payouts that were made stay as they are. */
export async function setParty<Party extends OperatorParty | AdvertiserParty | Payee>(
  database: Pick<Database, "transaction">,
  { account, none, changes, expected, author }: PartyChange<Party>,
): Promise<"set" | "changed-since"> {
  return database.transaction(async (tx) => {
    // Changes of the same party wait here for each other.
    const change = await openChange(tx, author, account);
    const stored = await readParty(tx, account, none);
    const isSame = (one: Party, other: Party) =>
      Object.keys(none).every((field) => Reflect.get(one, field) === Reflect.get(other, field));
    if (expected !== undefined && !isSame(stored, expected)) return "changed-since";
    const party: Party = { ...stored, ...definedFields(changes) };
    await tx.run(write, [account, JSON.stringify(byStoredName(party))]);
    if (!isSame(stored, party)) await audit(tx, change);
    return "set";
  });
}
