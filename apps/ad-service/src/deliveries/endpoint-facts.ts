import type { NoticeHealth } from "@intermission/operator-api/notices";
import { type Runner, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { NoticeReason } from "../notices/notice.ts";
import type { EndpointHealth } from "./endpoint-health.ts";

/** What is read of an endpoint to decide its health. */
interface EndpointFacts {
  botId: string;
  url: string;
  /** Increased by each statement that changes the health or the address: what was decided is written only if it is unchanged. */
  version: number;
  /** The database's clock, in milliseconds. */
  now: number;
  health: EndpointHealth;
}

/** `moment`: a timestamptz column, read and written as milliseconds. */
type ColumnType = "text" | "integer" | "boolean" | "moment";

const healthColumns = {
  state: ["state", "text"],
  stateSince: ["state_since", "moment"],
  disabledReason: ["disabled_reason", "text"],
  warnedPercent: ["warned_percent", "integer"],
  backoffUntil: ["backoff_until", "moment"],
  breaker: ["breaker", "text"],
  probeAt: ["probe_at", "moment"],
  probeFailures: ["probe_failures", "integer"],
  probeSuccesses: ["probe_successes", "integer"],
  failuresInRow: ["failures_in_row", "integer"],
  windowStartedAt: ["window_started_at", "moment"],
  windowAttempts: ["window_attempts", "integer"],
  windowFailures: ["window_failures", "integer"],
  lastSuccessAt: ["last_success_at", "moment"],
  lastFailureAt: ["last_failure_at", "moment"],
  failingSince: ["failing_since", "moment"],
  failuresSinceSuccess: ["failures_since_success", "integer"],
  goneSince: ["gone_since", "moment"],
  goneEventId: ["gone_event_id", "text"],
  isGoneForSeveral: ["is_gone_for_several", "boolean"],
  lastStatus: ["last_status", "integer"],
  lastErrorClass: ["last_error_class", "text"],
  lastAnswer: ["last_answer", "text"],
  answerWarning: ["answer_warning", "text"],
  acceptsWrongSignature: ["accepts_wrong_signature", "boolean"],
} as const satisfies Record<keyof EndpointHealth, readonly [column: string, type: ColumnType]>;

/** A column of an endpoint that belongs to its health. */
export type HealthColumn = (typeof healthColumns)[keyof EndpointHealth][0];
export const healthColumnNames: readonly string[] = Object.values(healthColumns).map(([column]) => column);

const selected = Object.entries(healthColumns).map(([name, [column, type]]) =>
  type === "moment" ? `extract(epoch from ${column})::float8 * 1000 as "${name}"` : `${column} as "${name}"`,
);
const factsOf = (locking: string) => `
  select bot_id as "botId", url, version, extract(epoch from now())::float8 * 1000 as now, ${selected.join(", ")}
  from endpoints where bot_id = any ($1::text[]) order by bot_id ${locking}`;
const reads = {
  unlocked: statement<EndpointHealth & Omit<EndpointFacts, "health">>("endpoints.facts", factsOf("")),
  locked: statement<EndpointHealth & Omit<EndpointFacts, "health">>("endpoints.lock-facts", factsOf("for update")),
};

/** The endpoints of these bots, by bot. `locked`: no other statement changes them until the transaction ends. */
export async function readEndpointFacts(
  runner: Runner,
  botIds: readonly string[],
  { locking }: { locking: keyof typeof reads },
): Promise<Map<string, EndpointFacts>> {
  const rows = await runner.run(reads[locking], [botIds]);
  return new Map(rows.map(({ botId, url, version, now, ...health }) => [botId, { botId, url, version, now, health }]));
}

/** A health that was decided from facts of this version. */
export interface DecidedHealth {
  botId: string;
  version: number;
  /** How many attempts it was decided from. */
  number: number;
  health: EndpointHealth;
  notice: { health: NoticeHealth; reason: NoticeReason | null } | undefined;
}

type ParameterTypes = {
  [Name in keyof EndpointHealth]: (typeof healthColumns)[Name][1] extends "moment"
    ? "double precision"
    : Exclude<(typeof healthColumns)[Name][1], "moment">;
};
const parameterTypes = Object.fromEntries(
  Object.entries(healthColumns).map(([name, [, type]]) => [name, type === "moment" ? "double precision" : type]),
) as ParameterTypes;

/**
 * Rows of decided health, as parameters of a statement after `after` others. The columns have the names of `EndpointHealth`,
 * which SQL reads in lower case: renaming them took most of the time of a decision.
 */
export function decidedRows(after: number) {
  const rows = rowParameters(
    { bot_id: "text", version: "bigint", number: "integer", notice: "text", notice_reason: "text", ...parameterTypes },
    { after },
  );
  return {
    table: rows.table,
    values: (decided: readonly DecidedHealth[]) =>
      rows.values(
        decided.map(({ botId, version, number, health, notice }) => {
          const ofNotice = { notice: notice?.health, notice_reason: notice?.reason };
          return { bot_id: botId, version, number, ...ofNotice, ...health };
        }),
      ),
  };
}

/** The assignments that write `decided` where `condition` holds, and increase the version. */
export function healthAssignments(condition: string): string {
  const assignments = Object.entries(healthColumns).map(([name, [column, type]]) => {
    const value = type === "moment" ? `to_timestamp(decided.${name} / 1000)` : `decided.${name}`;
    return `${column} = case when ${condition} then ${value} else endpoints.${column} end`;
  });
  return [`version = endpoints.version + (${condition})::integer`, ...assignments].join(", ");
}
