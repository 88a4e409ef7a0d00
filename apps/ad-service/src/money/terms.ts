import type { AdvertiserMoney } from "@intermission/operator-api/money";
import { creditOf, type Terms } from "@intermission/operator-api/terms";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import { type Approval, askIfNeeded, termsKey, type Withheld } from "./ask-approval.ts";
import { paidIn, spentBy } from "./ledger.ts";

/** SQL: null is without a limit, or prepaid. */
export const creditLimit = "case billing when 'credit' then credit_limit_micros end";

// The lock is that of `advertisers.hold`: terms that were read stay until the transaction ends.
const readTerms = statement<{ billing: Terms["billing"]; credit: string | null }>(
  "money.read-terms",
  `select billing, ${creditLimit}::text as credit from advertisers where advertiser_id = $1 for no key update`,
);
const set = statement<never>(
  "money.set-terms",
  `update advertisers set billing = $2, credit_limit_micros = case $2 when 'prepaid' then 0 else $3::bigint end
   where advertiser_id = $1`,
);

export interface TermsChange extends Terms {
  advertiserId: string;
  expected?: Terms | undefined;
  author?: Author | undefined;
}

export type SetTermsOutcome = { outcome: "set" } | { outcome: "changed-since" } | Withheld;

/**
 * The next ad is chosen by the new terms; what was spent stays. With the terms that the caller has seen (`expected`), nothing is
 * set if they are others meanwhile. A higher credit above the amount of the setting waits for a second person.
 */
export function setTerms(database: Pick<Database, "transaction">, change: TermsChange): Promise<SetTermsOutcome> {
  return database.transaction((tx) => setTermsIn(tx, { ...change, approval: "asks" }));
}

export async function setTermsIn(
  tx: Transaction,
  { advertiserId, billing, creditLimitMicros, expected, author, approval }: TermsChange & { approval: Approval },
): Promise<SetTermsOutcome> {
  const change = await openChange(tx, author, advertiserId);
  const [row] = await tx.run(readTerms, [advertiserId]);
  if (row === undefined) throw new Error(`the advertiser ${advertiserId} disappeared; advertisers are never deleted`);
  const before: Terms = { billing: row.billing, creditLimitMicros: row.credit === null ? null : Number(row.credit) };
  const terms: Terms = { billing, creditLimitMicros };
  if (expected !== undefined && !areSameTerms(before, expected)) return { outcome: "changed-since" };
  if (approval === "asks" && isMoreCredit(before, terms)) {
    const requested = { operation: "setTerms", advertiserId, terms, before } as const;
    const ask = {
      requested,
      objectId: advertiserId,
      amountMicros: creditOf(terms),
      key: termsKey(advertiserId),
      author,
    };
    const withheld = await askIfNeeded(tx, ask);
    if (withheld !== undefined) return withheld;
  }
  await tx.run(set, [advertiserId, billing, creditLimitMicros]);
  await audit(tx, change);
  return { outcome: "set" };
}

function areSameTerms(one: Terms, other: Terms): boolean {
  return one.billing === other.billing && one.creditLimitMicros === other.creditLimitMicros;
}

function isMoreCredit(before: Terms, after: Terms): boolean {
  const [from, to] = [creditOf(before), creditOf(after)];
  return from !== null && (to === null || to > from);
}

interface AdvertiserStanding {
  /** Null: without a limit. */
  advertiserLeftMicros: number | null;
  isAdvertiserStopped: boolean;
}

const readStandings = statement<AdvertiserStanding & { advertiserId: string }>(
  "money.standings-of-advertisers",
  `select advertiser_id as "advertiserId", state = 'archived' as "isAdvertiserStopped",
     case when credit_limit_micros is not null then greatest(0, credit_limit_micros + ${paidIn("advertisers.advertiser_id")}
       - ${spentBy("advertisers.advertiser_id")}) end::float8 as "advertiserLeftMicros"
   from advertisers where advertiser_id = any ($1)`,
);

/** Whether the campaigns of these advertisers may run, by their ids. */
export async function advertiserStandings(
  database: Pick<Database, "run">,
  advertiserIds: readonly string[],
): Promise<Map<string, AdvertiserStanding>> {
  const rows = await database.run(readStandings, [advertiserIds]);
  return new Map(rows.map(({ advertiserId, ...standing }) => [advertiserId, standing]));
}

export type MoneyRow = Omit<AdvertiserMoney, "balanceMicros" | "availableMicros" | "creditLimitMicros"> &
  Record<"balance" | "credit", string | null>;

const select = `select advertiser_id as "advertiserId", name, state, billing, ${creditLimit}::text as credit,
     (${paidIn("advertisers.advertiser_id")} - ${spentBy("advertisers.advertiser_id")})::text as balance
   from advertisers`;
const find = statement<MoneyRow>("money.of-advertiser", `${select} where advertiser_id = $1`);

/** What an advertiser has left, from what was paid in and the sums of its events: it is exact at any moment. */
export async function moneyOfAdvertiser(
  database: Pick<Database, "run">,
  advertiserId: string,
): Promise<AdvertiserMoney> {
  const [row] = await database.run(find, [advertiserId]);
  if (row === undefined) throw new Error(`the advertiser ${advertiserId} disappeared; advertisers are never deleted`);
  return withAvailable(row);
}

export function withAvailable({ balance, credit, ...row }: MoneyRow): AdvertiserMoney {
  const balanceMicros = BigInt(balance ?? 0);
  const available = row.billing === "credit" && credit === null ? null : balanceMicros + BigInt(credit ?? 0);
  return {
    ...row,
    creditLimitMicros: credit === null ? null : jsonInteger(BigInt(credit)),
    balanceMicros: jsonInteger(balanceMicros),
    availableMicros: available === null ? null : jsonInteger(available > 0n ? available : 0n),
  };
}
