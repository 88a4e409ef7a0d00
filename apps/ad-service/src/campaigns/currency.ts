import { currencyRoutes } from "@intermission/operator-api/currency";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, requireConfirmation } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { StartFault } from "@intermission/server/start-fault";
import type { FastifyBaseLogger } from "fastify";

/** The facts that decide about the currency of the store. */
interface CurrencyFacts {
  /** The one of all amounts so far; undefined before the first start. */
  readonly stored: string | undefined;
  /** Whether the store has a price, a budget or a charge: amounts of the stored currency, which nothing converts. */
  readonly hasMoney: boolean;
}

type CurrencyDecision =
  | { outcome: "kept"; currency: string }
  | { outcome: "stored"; currency: string }
  | { outcome: "changed"; currency: string; from: string }
  | { outcome: "refused"; stored: string };

const DEFAULT_CURRENCY = "USD";

/** The currency of the store decides; `CURRENCY` sets it at the first start, and changes it while there are no amounts. */
export function decideCurrency({ stored, hasMoney }: CurrencyFacts, configured: string | undefined): CurrencyDecision {
  if (stored === undefined) return { outcome: "stored", currency: configured ?? DEFAULT_CURRENCY };
  if (configured === undefined || configured === stored) return { outcome: "kept", currency: stored };
  return hasMoney ? { outcome: "refused", stored } : { outcome: "changed", currency: configured, from: stored };
}

const readFacts = statement<{ stored: string | null; hasMoney: boolean; hasEntries: boolean }>(
  "currency.read-facts",
  `select (select currency from deployment) as stored, exists (
     select from campaigns where view_price_micros > 0 or click_price_micros > 0 or task_price_micros > 0
       or total_budget_micros is not null or daily_budget_micros is not null
   ) or exists (select from campaign_days where spent_micros > 0)
     or exists (select from money_entries) as "hasMoney", exists (select from money_entries) as "hasEntries"`,
);

// Only if the currency is still the one that was read: two nodes may start at the same time.
const store = statement<{ currency: string }>(
  "currency.store",
  `insert into deployment (currency) values ($1)
   on conflict (is_only) do update set currency = excluded.currency where deployment.currency = $2
   returning currency`,
);

/**
 * Returns the currency of all amounts in the store. Throws a `StartFault` if `CURRENCY` is another one: prices, budgets and
 * charges of the past would be shown in it, without being converted.
 */
export async function requireCurrency(
  database: Database,
  configured: string | undefined,
  log: Pick<FastifyBaseLogger, "warn">,
): Promise<string> {
  for (;;) {
    const [row] = await database.run(readFacts, []);
    const stored = row?.stored ?? undefined;
    const decision = decideCurrency({ stored, hasMoney: row?.hasMoney ?? false }, configured);
    if (decision.outcome === "refused") throw new StartFault(refusal(decision.stored, String(configured)));
    if (decision.outcome === "kept") return decision.currency;
    if ((await database.run(store, [decision.currency, stored ?? null])).length === 0) continue;
    if (decision.outcome === "changed") {
      const { from, currency } = decision;
      log.warn(
        { from, currency },
        `the currency of this deployment is ${currency}, which was ${from}: there are no amounts yet`,
      );
    }
    return decision.currency;
  }
}

function refusal(stored: string, configured: string): string {
  return (
    `CURRENCY is ${configured}, and the amounts in the store are in ${stored}, which nothing converts: set CURRENCY=${stored}. ` +
    `If the amounts were meant in ${configured} from the beginning, start with CURRENCY=${stored} and run: pnpm ads currency set ` +
    `${configured}; for amounts in ${configured} beside those in ${stored}, use a store of its own (DATABASE_URL or DATA_DIR)`
  );
}

const replace = statement<never>(
  "currency.replace",
  `insert into deployment (currency) values ($1) on conflict (is_only) do update set currency = excluded.currency`,
);

// Until the change is committed, no entry in the former currency is made, and no other change begins.
const lockEntries: Statement<never> = { name: "", text: "lock table money_entries in share row exclusive mode" };

interface CurrencyChange {
  stored: string;
  currency: string;
  running: string;
  row: { hasMoney: boolean; hasEntries: boolean } | undefined;
}

// The transaction that turns a buyer on holds this lock until its commit.
const lockDeployment = statement<never>("currency.lock", "select from deployment for update");
// Unnamed, since an operator runs it rarely, and it reads the few buyers whole.
const readFeeds: Statement<{ name: string }> = {
  name: "",
  text: `select name from buyers join advertisers using (advertiser_id) where is_active and protocol <> 'openrtb' order by name limit 10`,
};

/** Bids of such a buyer are in dollars and name no currency: all would be refused after viewers' addresses were sent. */
async function refuseFeeds(tx: Transaction, currency: string): Promise<void> {
  await tx.run(lockDeployment, []);
  const feeds = currency === "USD" ? [] : await tx.run(readFeeds, []);
  if (feeds.length === 0) return;
  const names = feeds.map(({ name }) => name).join(", ");
  const message = `buyers that bid in USD are on: ${names}; turn them off before: buyers set <id> --active no`;
  throw conflict("FEEDS_IN_USD", message, { names });
}

function refuseConversion(
  { stored, currency, running, row }: CurrencyChange,
  confirmation: { isConfirmed: boolean },
): void {
  if (stored === currency) return;
  if (row?.hasEntries === true) {
    const reason = `the ledger has entries in ${stored}, which stay: use a store of its own for ${currency}`;
    throw conflict("LEDGER_HAS_ENTRIES", reason, { stored, currency });
  }
  const message =
    `all prices, budgets and charges, also those of the past, are then amounts in ${currency}; they are in ${stored}, and no ` +
    `number is converted. Every node answers with ${running} until it is started again, with CURRENCY=${currency}`;
  const effect = fieldFault("AMOUNTS_IN_CURRENCY", { stored, currency, running });
  requireConfirmation(row?.hasMoney === true ? [{ field: "currency", message, effect }] : [], confirmation);
}

/** `GET /currency` and `PUT /currency`, for a store whose currency was set wrong from the beginning. */
export function currencyOperatorRoutes(
  scope: CheckedScope,
  { database, currency: running }: { database: Database; currency: string },
): void {
  serveOperatorRoutes(scope, currencyRoutes, {
    async showCurrency() {
      const [row] = await database.run(readFacts, []);
      return { currency: row?.stored ?? running, running };
    },

    async setCurrency({ body, query, http }) {
      const { currency } = body;
      await database.transaction(async (tx) => {
        await tx.run(lockEntries, []);
        const change = await openChange(tx, authorOf(http), currency);
        const [row] = await tx.run(readFacts, []);
        const stored = row?.stored ?? running;
        await refuseFeeds(tx, currency);
        refuseConversion({ stored, currency, running, row }, { isConfirmed: query.confirmed });
        await tx.run(replace, [currency]);
        await audit(tx, change);
      });
      return { currency, running };
    },
  });
}
