import type { ColumnType } from "kysely";

export interface ViewerTables {
  viewers: {
    bot_id: string;
    user_id: string;
    /** The UTC day that `earned_today` counts. Select it as text: the driver would read a date in local time. */
    day: ColumnType<string, string, string>;
    earned_today: number;
    /** Null until the viewer earns. */
    last_earned_at: Date | null;
    /** The view that holds the viewer's clock: real time counts for this view. */
    clock_session_id: ColumnType<string | null, never, never>;
    /** Real time before this moment was credited to earlier holders of the clock. */
    credited_until: ColumnType<Date | null, Date | undefined, Date>;
    /** How often the viewer was offered an ad or began a view. */
    decisions: ColumnType<number, never, never>;
  };
}
