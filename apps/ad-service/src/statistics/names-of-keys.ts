import type { Dimension, NamedDimension } from "@intermission/operator-api/report-figures";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";

interface Named {
  key: string;
  name: string;
}

const statements: Readonly<Record<NamedDimension, Statement<Named>>> = {
  bot: statement("statistics.names-of-bots", "select bot_id as key, name from bots where bot_id = any($1)"),
  campaign: statement(
    "statistics.names-of-campaigns",
    "select campaign_id as key, name from campaigns where campaign_id = any($1)",
  ),
  advertiser: statement(
    "statistics.names-of-advertisers",
    "select advertiser_id as key, name from advertisers where advertiser_id = any($1)",
  ),
  creative: statement(
    "statistics.names-of-creatives",
    "select creative_id as key, name from creatives where creative_id = any($1) and name is not null",
  ),
};

export function isNamed(dimension: Dimension): dimension is NamedDimension {
  return Object.hasOwn(statements, dimension);
}

/** The operator's names of the objects with these ids. */
export async function namesOfKeys(
  database: Pick<Database, "run">,
  dimension: NamedDimension,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const rows = keys.length === 0 ? [] : await database.run(statements[dimension], [keys]);
  return new Map(rows.map(({ key, name }) => [key, name]));
}
