import { type Filing, ordRoutes } from "@intermission/operator-api/ord";
import { listPage } from "@intermission/postgres/keyset";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { monthBefore, monthOf } from "../money/months.ts";
import { monthNotOver } from "../money/payout-refusals.ts";
import { planFilings, stateOf } from "./plan-filings.ts";
import { findAccount, readFacts } from "./read-facts.ts";
import { type OrdDeps, setAccount, showAccount, syncOrd, tryOrd } from "./sync-ord.ts";

/** Routes of filings at an operator of ad data (Russia). */
export function ordOperatorRoutes(scope: CheckedScope, deps: OrdDeps & { now: () => Date }): void {
  const stopping = new AbortController();
  scope.addHook("preClose", async () => stopping.abort());

  const closedMonth = (month = monthBefore(deps.now())) => {
    if (month >= monthOf(deps.now())) throw monthNotOver(month);
    return month;
  };

  serveOperatorRoutes(scope, ordRoutes, {
    showOrd: () => showAccount(deps),

    async setOrd({ body, http }) {
      await setAccount(deps, { ...body, author: authorOf(http) });
      return showAccount(deps);
    },

    async listFilings({ query }) {
      const month = closedMonth(query.month);
      const filings = await readFilings(deps, month);
      const left = filings.filter(({ state }) => state !== "filed");
      const listed = query.all ? filings : left;
      const from = query.after === undefined ? 0 : listed.findIndex(({ externalId }) => externalId === query.after) + 1;
      const { rows, next } = listPage(listed.slice(from, from + query.limit + 1), query.limit, (one) => one.externalId);
      return { month, filings: rows, filed: filings.length - left.length, left: left.length, next };
    },

    async syncOrd({ body: { month, isDryRun }, http, log }) {
      const of = { month: closedMonth(month), author: authorOf(http), signal: stopping.signal, log };
      return isDryRun ? tryOrd(deps, of) : syncOrd(deps, of);
    },
  });
}

async function readFilings(deps: OrdDeps, month: string): Promise<Filing[]> {
  const account = await findAccount(deps.database);
  const facts = await readFacts(deps.database, { ...deps, month, url: account?.url });
  const filed = new Set<string>();
  return planFilings(facts).map((filing) => {
    const state = stateOf(filing, { ...facts, filed });
    if (state === "filed") filed.add(filing.externalId);
    const { externalId, kind, name, objectId, gaps } = filing;
    const record = facts.records.get(externalId);
    return {
      externalId,
      kind,
      name,
      objectId,
      state,
      gaps: [...gaps],
      fault: record?.fault ?? null,
      filedAt: record?.filedAt ?? null,
    };
  });
}
