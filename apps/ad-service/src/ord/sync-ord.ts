import { randomUUID } from "node:crypto";
import { ORD_RUN_MS, type OrdAccount, type OrdRun } from "@intermission/operator-api/ord";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { conflict } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import type { FastifyBaseLogger } from "fastify";
import { hashOf, type PlannedFiling, planFilings, stateOf } from "./plan-filings.ts";
import { findAccount, isSandbox, originOf, readFacts } from "./read-facts.ts";
import { type FilingOutcome, requestOf, type SendDeps, sendFiling } from "./send-filing.ts";

export interface OrdDeps extends Pick<SendDeps, "requests" | "media"> {
  database: Database;
  secretBox: SecretBox;
  publicUrl: string;
  currency: string;
}

/** The owner of the sealed key. */
const OWNER = "ord";

const storeAccount = statement<{ id: string }>(
  "ord.store-account",
  `insert into ord_account (url, sealed_key) values ($1, $2)
   on conflict (is_only) do update set url = excluded.url, sealed_key = excluded.sealed_key returning url as id`,
);

/** Sets the address and its key together, so that no key is ever sent to an address that it was not entered for. */
export async function setAccount(
  { database, secretBox }: Pick<OrdDeps, "database" | "secretBox">,
  { url, key, author }: { url: string; key: string; author: Author | undefined },
): Promise<void> {
  const change = { statement: storeAccount, values: [url, secretBox.seal(key, OWNER)] };
  await changeAudited(database, { objectId: OWNER, author }, change);
}

export async function showAccount({ database }: Pick<OrdDeps, "database">): Promise<OrdAccount> {
  const account = await findAccount(database);
  return { url: account?.url ?? null, hasKey: account !== undefined, isRunning: account?.isRunning ?? false };
}

/** A run renews its claim. The claim of a killed run expires after this time. */
const CLAIM_MS = 45_000;
const RENEW_MS = 10_000;
const until = "clock_timestamp() + $2::integer * interval '1 ms'";

const claim = statement<{ url: string; sealedKey: Buffer }>(
  "ord.claim-run",
  `update ord_account set run_id = $1, run_until = ${until}
   where is_only and (run_until is null or run_until < clock_timestamp()) returning url, sealed_key as "sealedKey"`,
);
const renew = statement<never>(
  "ord.renew-run",
  `update ord_account set run_until = ${until} where is_only and run_id = $1`,
);
const release = statement<never>(
  "ord.release-run",
  "update ord_account set run_id = null, run_until = null where is_only and run_id = $1",
);

export interface RunOptions {
  month: string;
  author: Author | undefined;
  signal: AbortSignal;
  log: Pick<FastifyBaseLogger, "info" | "warn">;
}

/**
 * Files records that are new or have changed. Each record is stored after its answer, so the next run continues a killed one and
 * repeats at most one request. Only one run works at a time: others are refused with 409.
 */
export async function syncOrd(deps: OrdDeps, options: RunOptions): Promise<OrdRun> {
  const runId = randomUUID();
  const claimed = { statement: claim, values: [runId, CLAIM_MS] };
  const account = await changeAudited(deps.database, { objectId: OWNER, author: options.author }, claimed);
  if (account === undefined) {
    if ((await findAccount(deps.database)) === undefined) throw noKey();
    throw conflict("ORD_RUNNING", "another run files ads: wait for its end. One that was killed ends within a minute");
  }
  const renewing = setInterval(() => {
    deps.database.run(renew, [runId, CLAIM_MS]).catch((err) => options.log.warn({ err }, "the claim was not renewed"));
  }, RENEW_MS);
  try {
    const { url, sealedKey } = account;
    const key = deps.secretBox.open(sealedKey, OWNER);
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(ORD_RUN_MS)]);
    return await fileAll(deps, { ...options, runId, send: { ...deps, url, key, signal } });
  } finally {
    clearInterval(renewing);
    await deps.database.run(release, [runId]);
  }
}

function noKey(): Error {
  return conflict("ORD_KEY_NEEDED", "the key of an operator of ad data is missing: ads ord set --key …");
}

type Run = Pick<RunOptions, "month" | "log"> & { runId: string; send: SendDeps };

/** So many records fail one after another that had not failed before: the API is out of order, and not one of them. */
const MAX_FAILED = 3;

/** Earlier failures are filed last, so that a record that always fails blocks only the records that reference it. */
async function fileAll(deps: OrdDeps, run: Run): Promise<OrdRun> {
  const { month, log, send } = run;
  const facts = await readFacts(deps.database, { ...deps, month, url: send.url });
  const plan = planFilings(facts);
  const filed = new Set<string>();
  const tried = new Set<string>();
  let filedNow = 0;
  let failedInSuccession = 0;
  let stopped: string | null = null;
  const hasFailed = ({ externalId }: PlannedFiling) => {
    const record = facts.records.get(externalId);
    return typeof record?.fault === "string" && !record.isRefused;
  };
  for (const filing of [...plan.filter((one) => !hasFailed(one)), ...plan]) {
    const { externalId } = filing;
    if (filed.has(externalId) || tried.has(externalId)) continue;
    const state = stateOf(filing, { ...facts, filed });
    if (state === "filed") filed.add(externalId);
    if (stopped !== null || (state !== "ready" && state !== "refused")) continue;
    tried.add(externalId);
    const outcome = await fileOne(deps, run, filing);
    if (outcome.outcome !== "failed") failedInSuccession = 0;
    else if (!hasFailed(filing)) failedInSuccession++;
    if (outcome.outcome === "filed") {
      filed.add(externalId);
      filedNow++;
    } else if (outcome.outcome === "stopped" || failedInSuccession === MAX_FAILED) stopped = outcome.fault;
  }
  const counts = { filed: filedNow, left: plan.length - filed.size };
  log.info({ month, ...counts, stopped }, "ads were filed at the operator of ad data");
  return { month, ...counts, stopped, requests: [] };
}

async function fileOne(deps: OrdDeps, run: Run, filing: PlannedFiling): Promise<FilingOutcome> {
  const { signal } = run.send;
  try {
    signal.throwIfAborted();
    const outcome = await sendFiling(run.send, filing);
    const isStored = await storeOutcome(deps, run, { filing, outcome });
    return isStored ? outcome : { outcome: "stopped", fault: "another run has begun since" };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { outcome: "stopped", fault: "its time was over, or the server stops: run it again" };
  }
}

const store = statement<{ id: string }>(
  "ord.store-record",
  `insert into ord_records (origin, external_id, filed_hash, filed_at, erid, fault, is_refused)
   select $2, $3, $4::bytea, case when $4::bytea is not null then clock_timestamp() end, $5::text, $6::text, $7::boolean
   from ord_account where is_only and run_id = $1
   on conflict (origin, external_id) do update set filed_hash = coalesce(excluded.filed_hash, ord_records.filed_hash),
     filed_at = coalesce(excluded.filed_at, ord_records.filed_at), erid = coalesce(excluded.erid, ord_records.erid),
     fault = excluded.fault, is_refused = excluded.is_refused
   returning external_id as id`,
);

const mark = statement<never>(
  "ord.mark-creative",
  `update creatives set erid = $2, revision = revision + 1
   where creative_id = $1 and erid is null`,
);

/** Stores a record and its creative's erid in one transaction; only the run is audited. False: another run has the claim. */
function storeOutcome(
  { database }: OrdDeps,
  { runId, send }: Run,
  { filing, outcome }: { filing: PlannedFiling; outcome: FilingOutcome },
): Promise<boolean> {
  const isFiled = outcome.outcome === "filed";
  const erid = isFiled ? outcome.erid : null;
  const fault = isFiled ? null : outcome.fault;
  const values = [isFiled ? hashOf(filing) : null, erid, fault, outcome.outcome === "refused"];
  return database.transaction(async (tx) => {
    const stored = await tx.run(store, [runId, originOf(send.url), filing.externalId, ...values]);
    if (stored.length === 0) return false;
    if (erid !== null && !isSandbox(send.url)) await tx.run(mark, [filing.objectId, erid]);
    return true;
  });
}

/** The requests and gaps of a run now, as if each earlier record were filed. Sends nothing. */
export async function tryOrd(deps: OrdDeps, { month }: { month: string }): Promise<OrdRun> {
  const account = await findAccount(deps.database);
  const facts = await readFacts(deps.database, { ...deps, month, url: account?.url });
  const filed = new Set<string>();
  const requests: OrdRun["requests"] = [];
  let left = 0;
  for (const filing of planFilings(facts)) {
    const state = stateOf(filing, { ...facts, filed });
    if (state !== "incomplete" && state !== "waiting") filed.add(filing.externalId);
    if (state !== "filed") left++;
    if ((state === "ready" || state === "refused") && requests.length < MAX_SHOWN)
      requests.push({ externalId: filing.externalId, ...requestOf(filing) });
  }
  return { month, filed: 0, left, stopped: null, requests };
}

const MAX_SHOWN = 1000;
