import type { PayoutState, PublisherMoney, PublisherMoneySort } from "@intermission/operator-api/publisher-money";
import { type ListPage, pageOfRows, sortOf, sortRows } from "@intermission/postgres/keyset";
import type { Database } from "@intermission/postgres/open-database";
import { readPublisherMoney } from "./earnings.ts";

export interface PublisherMoneyList {
  month: string;
  currency: string;
  /** The bot at which an earlier page ended. It must exist. */
  after?: string | undefined;
  limit: number;
  /** Each of its words is in the bot's name, or in its id. */
  find?: string | undefined;
  state?: PayoutState | undefined;
  sort?: PublisherMoneySort | `-${PublisherMoneySort}` | undefined;
}

interface PublisherPage extends ListPage<PublisherMoney> {
  total: number;
  /** The sum of all matching publishers. */
  totalPayableMicros: number;
}

const inState: Record<PayoutState, (one: PublisherMoney) => boolean> = {
  due: ({ payableMicros }) => payableMicros > 0,
  paid: ({ paidAt }) => paidAt !== null,
};

const sortValues: Record<PublisherMoneySort, (one: PublisherMoney) => number | string | undefined> = {
  name: ({ name }) => name.toLowerCase(),
  earned: ({ earnedMicros }) => earnedMicros,
  owed: ({ owedMicros }) => owedMicros,
  paid: ({ paidAt }) => paidAt?.getTime(),
  reference: ({ reference }) => reference?.toLowerCase(),
  payee: ({ hasPayee }) => Number(hasPayee),
};

const idOf = ({ botId }: PublisherMoney) => botId;

/** A page of the matching publishers, sorted and counted here, since TypeScript decides the payouts. */
export async function listPublisherMoney(
  database: Pick<Database, "run">,
  { limit, state, sort, ...of }: PublisherMoneyList,
): Promise<PublisherPage> {
  const all = await readPublisherMoney(database, of);
  const { value, isDescending } = sort === undefined ? { isDescending: false } : sortOf<PublisherMoneySort>(sort);
  // The default order is by id.
  const sortValueOf = value === undefined ? () => 0 : sortValues[value];
  const sorted = sortRows(all, { sortValueOf, idOf, isDescending });
  const isListed = (one: (typeof all)[number]) => one.isFound && (state === undefined || inState[state](one));
  const listed = all.filter(isListed);
  const { rows, next } = pageOfRows(sorted, { after: of.after, limit, idOf, isListed });
  return {
    rows: rows.map(({ isFound: _, ...one }) => one),
    next,
    total: listed.length,
    totalPayableMicros: listed.reduce((sum, { payableMicros }) => sum + payableMicros, 0),
  };
}
