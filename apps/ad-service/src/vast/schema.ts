import type { ColumnType, Generated } from "kysely";
import type { VastAd } from "./vast-ad.ts";

export type CallOutcome = "answered" | "refused" | "failed" | "unknown";

export interface VastTables {
  vast_ads: {
    bot_id: string;
    session_id: string;
    ad: ColumnType<VastAd, string, never>;
  };
  tracker_calls: {
    call_id: Generated<number>;
    bot_id: string;
    session_id: string | null;
    event: string;
    position: number;
    url: string;
    user_agent: ColumnType<string, string | undefined, never>;
    attempts: ColumnType<number, never, number>;
    due_at: Date;
    finished_at: ColumnType<Date | null, never, Date>;
    outcome: ColumnType<CallOutcome | null, never, CallOutcome>;
  };
}
