import type { ColumnType } from "kysely";

export interface ViewerTables {
  viewers: {
    bot_id: string;
    user_id: string;
    /** The UTC day that `earned_today` counts. Select it as text: the driver would read a date in local time. */
    day: ColumnType<string, string, string>;
    earned_today: number;
    /** Null until something was earned. */
    last_earned_at: Date | null;
    /** The view for which real time counts. */
    clock_session_id: ColumnType<string | null, never, never>;
    /** Real time before this moment was credited to views that held the clock before. */
    credited_until: ColumnType<Date | null, Date | undefined, Date>;
    /** How often an ad was offered to the viewer or a view began. */
    decisions: ColumnType<number, never, never>;
  };
}
