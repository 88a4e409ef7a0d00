import type { AdvertiserMoney } from "@intermission/operator-api/money";
import type { Terms } from "@intermission/operator-api/terms";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import { paidIn, spentBy } from "./ledger.ts";

/** SQL: null is without a limit, or prepaid. */
export const creditLimit = "case billing when 'credit' then credit_limit_micros end";

const set = statement<{ advertiserId: string }>(
  "money.set-terms",
  `update advertisers set billing = $2, credit_limit_micros = case $2 when 'prepaid' then 0 else $3::bigint end
   where advertiser_id = $1 and ($4::text is null or (billing = $4 and ${creditLimit} is not distinct from $5::bigint))
   returning advertiser_id as "advertiserId"`,
);

/**
 * The next ad is chosen by the new terms; what was spent stays. With the terms that the caller has seen (`expected`), nothing is
 * set if they are others meanwhile.
 */
export async function setTerms(
  database: Database,
  {
    advertiserId,
    billing,
    creditLimitMicros,
    expected,
    author,
  }: Terms & { advertiserId: string; expected?: Terms | undefined; author?: Author | undefined },
): Promise<"set" | "changed-since"> {
  const values = [advertiserId, billing, creditLimitMicros, expected?.billing, expected?.creditLimitMicros];
  const changed = await changeAudited(database, { objectId: advertiserId, author }, { statement: set, values });
  return changed === undefined ? "changed-since" : "set";
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
