import type { Statement, Transaction } from "@intermission/postgres/open-database";
import { measureRows, moneyColumns } from "./measures.ts";
import { audienceTables, reasonTables, sumTables } from "./sum-tables.ts";

/**
 * Takes the campaigns of advertisers out of the sums of campaigns. Requests without an ad have no campaign: theirs are summed
 * again from the sums of bots and campaigns, so that bots whose rows were deleted there leave these, too. `since`: a day's
 * first moment (UTC) before which there is nothing to take out. The caller holds the progress of the statistics.
 */
export async function removeFromSums(
  tx: Transaction,
  { advertiserIds, since }: { advertiserIds: readonly string[]; since: Date },
): Promise<void> {
  const counted = [...Object.values(measureRows).map(({ column }) => column), ...moneyColumns];
  for (const { of, columns } of [
    { of: sumTables, columns: counted },
    { of: audienceTables, columns: counted },
    { of: reasonTables, columns: ["count"] },
  ]) {
    const { table, key } = of.campaign;
    const keys = key.join(", ");
    await tx.run(
      unnamed(`delete from ${table} where starts_at >= $2
        and (campaign_id = '' or campaign_id in (select campaign_id from campaigns where advertiser_id = any ($1)))`),
      [advertiserIds, since],
    );
    await tx.run(
      unnamed(`insert into ${table} (${keys}, ${columns.join(", ")})
        select ${keys}, ${columns.map((column) => `sum(${column})`).join(", ")} from ${of["bot-and-campaign"].table}
        where starts_at >= $1 and campaign_id = '' group by ${keys}`),
      [since],
    );
  }
}

// They run rarely.
const unnamed = (text: string): Statement<never> => ({ name: "", text });
