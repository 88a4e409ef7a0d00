import type { SessionState } from "@intermission/ad-core/client-api";
import type { PlaybackFault, ProgressReport } from "@intermission/ad-core/player-api";
import type { ColumnType } from "kysely";
import type { Suspicion } from "./viewing-signals.ts";

/** Suspicious views are `held` until the operator decides, or `refused`. Both were watched and closed. */
export type StoredState = SessionState | "held" | "refused";

export type CloseReason = "tap" | "page-hidden" | "heartbeat-lost" | "deadline" | "reopened";

export interface AdSessionTables {
  ad_sessions: {
    bot_id: string;
    /** Starts with the bot's id, so that an address with only the session id finds the row by its primary key. */
    session_id: string;
    code: string;
    user_id: string;
    reference: ColumnType<string, string | undefined, string>;
    campaign_id: string;
    creative_id: string;
    is_vast: ColumnType<boolean, boolean | undefined, never>;
    state: StoredState;
    /** SHA-256 of the token of the latest opening. */
    token_hash: Buffer;
    openings: ColumnType<number, number | undefined, number>;
    first_sequence: ColumnType<number, number | undefined, number>;
    duration_ms: number;
    accepted_ms: ColumnType<number, number | undefined, number>;
    covered: ColumnType<number[], never, never>;
    sequences: ColumnType<number[], never, never>;
    signals: ColumnType<number[] | null, never, never>;
    refusals: ColumnType<Record<string, number> | null, never, never>;
    version: ColumnType<number, never, never>;
    suspicions: ColumnType<Suspicion[], Suspicion[] | undefined, Suspicion[]>;
    /** When the operator decided on a held view. */
    decided_at: ColumnType<Date | null, never, never>;
    /** A view of one of the bot's testers: free of charge and excluded from the statistics. */
    is_test: ColumnType<boolean, boolean | undefined, never>;
    opened_at: ColumnType<Date, Date, never>;
    started_at: Date | null;
    last_report_at: Date | null;
    watched_at: Date | null;
    close_requested_at: Date | null;
    closed_at: Date | null;
    close_reason: CloseReason | null;
    /** Why its player last gave up on the video, and when. */
    fault: ColumnType<PlaybackFault | null, never, never>;
    fault_at: ColumnType<Date | null, never, never>;
    failed_creatives: ColumnType<string[], string[] | undefined, never>;
    deadline: ColumnType<Date, Date, never>;
    /** Real time credited to this view: see `viewers.credited_until`. */
    clock_ms: ColumnType<number, number | undefined, never>;
    /** Reports that the last call sent too early and the clock will soon allow; they are settled without another call. */
    pending_reports: ColumnType<ProgressReport[] | null, never, null>;
    /** When the sweeper must process it: its row in `views_due`. */
    due_at: ColumnType<Date | null, never, never>;
  };
  views_due: {
    due_at: ColumnType<Date, never, never>;
    bot_id: ColumnType<string, never, never>;
    session_id: ColumnType<string, never, never>;
  };
}
