import type { MoneyStatement, StatementItem, StatementLine } from "@intermission/operator-api/statements";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import { type Account, settledUntil } from "./ledger.ts";
import { monthAfter, monthOf } from "./months.ts";
import { partyOf } from "./parties.ts";

/** Charges of a month may be settled a little after it. What comes later stands in the next one. */
const WAIT_MS = 3_600_000;
/** Months that one call issues. */
const MAX_MONTHS = 24;

const lock = statement<never>(
  "money.lock-statements",
  "select pg_advisory_xact_lock(hashtextextended('money statements', 0))::text",
);
const findFirst = statement<{ month: string | null }>(
  "money.first-month-without-statements",
  `select to_char(coalesce(
     (select max(month) + interval '1 month' from money_statements),
     (select min(at) from money_entries)), 'YYYY-MM') as month`,
);
// The numbers have no gaps, and a sample is removed.
const notOfSample = `split_part(account, ':', 2) not in (
       select unnest(bot_ids || advertiser_ids) from sample)`;
const insert = statement<{ number: number }>(
  "money.issue-statements",
  `with bounds as (select ($1 || '-01')::timestamptz as first, ($1 || '-01')::timestamptz + interval '1 month' as behind),
   sums as (
     select account, min(currency) as currency, coalesce(sum(amount_micros) filter (where at < first), 0) as opening,
       sum(amount_micros) as closing, count(*) filter (where at >= first) as entries
     from money_entries, bounds
     where account not in ('cash', 'revenue') and at < behind and ${notOfSample} group by account
   ),
   totals as (
     select account, kind, null::timestamptz as at, null::text as reference, null::text as note, sum(amount_micros) as amount
     from money_entries, bounds where at >= first and at < behind and kind in ('charge', 'refund') group by account, kind
     union all
     select account, kind, at, reference, note, amount_micros from money_entries join money_transactions using (transaction_id), bounds
     where at >= first and at < behind and kind not in ('charge', 'refund')
   ),
   lines as (
     select account, jsonb_agg(jsonb_build_object('kind', kind, 'at', at, 'reference', reference, 'note', note,
       'amount', amount::text) order by at nulls last, kind) as lines
     from totals group by account
   ),
   items as (
     select account, jsonb_agg(jsonb_build_object('kind', kind, 'event', event, 'campaign_id', campaign_id,
       'campaign', campaigns.name, 'unit', unit::text, 'quantity', quantity) order by kind, campaigns.name, campaign_id, event, unit) as items
     from (
       select account, kind, event, campaign_id, unit_micros as unit, sum(quantity) as quantity
       from money_entries join money_items using (transaction_id, account), bounds where at >= first and at < behind
       group by 1, 2, 3, 4, 5
     ) as summed left join campaigns using (campaign_id) group by account
   )
   insert into money_statements (number, account, month, name, currency, opening_micros, closing_micros, lines, items, operator,
     party, issued_at)
   select (select coalesce(max(number), 0) from money_statements) + row_number() over (order by account), account,
     ($1 || '-01')::date, coalesce(
       (select name from advertisers where advertiser_id = split_part(account, ':', 2)),
       (select name from bots where bot_id = split_part(account, ':', 2)), account),
     currency, opening, closing, coalesce(lines, '[]'), coalesce(items, '[]'),
     (select details - '{iban,least_payout_micros}'::text[] from money_parties where account = 'operator'),
     (select details - '{iban,least_payout_micros}'::text[] from money_parties where money_parties.account = sums.account), now()
   from sums left join lines using (account) left join items using (account) where entries > 0 or opening <> 0
   returning number`,
);

/** Issues the statements of all months that are over and settled, each once, on any number of nodes. */
export async function issueStatements(database: Pick<Database, "run" | "transaction">): Promise<number> {
  const settled = await settledUntil(database);
  if (settled === null) return 0;
  const running = monthOf(new Date(settled.getTime() - WAIT_MS));
  return database.transaction(async (tx) => {
    await tx.run(lock, []);
    let issued = 0;
    let month = (await tx.run(findFirst, []))[0]?.month ?? running;
    for (let months = 0; month < running && months < MAX_MONTHS; months++) {
      issued += (await tx.run(insert, [month])).length;
      month = monthAfter(month);
    }
    return issued;
  });
}

/** With all digits of its amounts. */
type IssuedStatement = Omit<MoneyStatement, "openingMicros" | "closingMicros" | "lines" | "items"> & {
  openingMicros: bigint;
  closingMicros: bigint;
  lines: (Omit<StatementLine, "amountMicros"> & { amountMicros: bigint })[];
  items: (Omit<StatementItem, "unitMicros"> & { unitMicros: bigint })[];
};

type StoredDetails = Record<string, unknown> | null;
type StatementRow = Omit<
  IssuedStatement,
  "openingMicros" | "closingMicros" | "lines" | "items" | "operator" | "party"
> & {
  opening: string;
  closing: string;
  lines: (Omit<StatementLine, "amountMicros" | "at"> & { amount: string; at: string | null })[];
  items: (Pick<StatementItem, "kind" | "event" | "campaign" | "quantity"> & {
    unit: string;
    campaign_id: string | null;
  })[];
  operator: StoredDetails;
  party: StoredDetails;
};

const select = `select number, case when starts_with(account, 'advertiser:') then 'advertiser' else 'publisher' end as side,
     split_part(account, ':', 2) as "ownerId", name, to_char(month, 'YYYY-MM') as month, currency,
     opening_micros::text as opening, closing_micros::text as closing, lines, items, operator, party,
     issued_at as "issuedAt"
   from money_statements`;
const find = statement<StatementRow>("money.find-statement", `${select} where number = $1 and account = $2`);
// Unnamed, since its plan depends on the filter.
const list: Statement<StatementRow> = {
  name: "",
  text: `${select} where ($1::text is null or account = $1) and ($2::bigint is null or number < $2) order by number desc limit $3`,
};

/** Undefined: the account has no statement of this number. */
export async function findStatement(
  tx: Pick<Transaction, "run">,
  of: { number: number; account: Account },
): Promise<IssuedStatement | undefined> {
  const [row] = await tx.run(find, [of.number, of.account]);
  return row && statementOf(row);
}

/** Of one account or of all, the latest first. */
export async function listStatements(
  tx: Pick<Transaction, "run">,
  of: { account?: Account; before?: string | undefined; limit: number },
): Promise<IssuedStatement[]> {
  return (await tx.run(list, [of.account, of.before, of.limit])).map(statementOf);
}

const noOperator = { legalName: null, address: null, taxId: null, taxName: null, taxPercent: null };
const noParty = { legalName: null, address: null, taxId: null, language: "en", taxNote: null } as const;

function statementOf({ opening, closing, lines, items, operator, party, ...row }: StatementRow): IssuedStatement {
  return {
    ...row,
    operator: operator && partyOf(operator, noOperator),
    party: party && partyOf<NonNullable<IssuedStatement["party"]>>(party, noParty),
    items: items.map(({ unit, campaign_id: campaignId, ...item }) => ({
      ...item,
      campaignId,
      unitMicros: BigInt(unit),
    })),
    openingMicros: BigInt(opening),
    closingMicros: BigInt(closing),
    lines: lines.map(({ amount, at, ...line }) => ({
      ...line,
      at: at === null ? null : new Date(at),
      amountMicros: BigInt(amount),
    })),
  };
}

export function statementInJson(statement: IssuedStatement): MoneyStatement {
  const { openingMicros, closingMicros, lines, items, ...row } = statement;
  return {
    ...row,
    items: items.map((item) => ({ ...item, unitMicros: jsonInteger(item.unitMicros) })),
    openingMicros: jsonInteger(openingMicros),
    closingMicros: jsonInteger(closingMicros),
    lines: lines.map((line) => ({ ...line, amountMicros: jsonInteger(line.amountMicros) })),
  };
}
