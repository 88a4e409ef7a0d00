import type { ColumnType } from "kysely";

export type DeliveryMode = "at-least-once" | "at-most-once";

/** How a view is treated that earned but looks suspicious. */
export type SuspiciousViews = "pay" | "hold" | "refuse";

/** `next` and `active` authenticate and sign; `retiring` does so until `revoke_at`. */
export type TokenState = "next" | "active" | "retiring" | "revoked";

export interface BotTables {
  bots: {
    bot_id: string;
    /** The first four characters of the bot's codes: the address of a direct link identifies its bot by them. */
    code_prefix: string;
    name: string;
    username: string | null;
    is_suspended: ColumnType<boolean, boolean | undefined, boolean>;
    publisher_api_url: string | null;
    delivery_mode: ColumnType<DeliveryMode, DeliveryMode | undefined, DeliveryMode>;
    code_lifetime_seconds: ColumnType<number, number | undefined, number>;
    cooldown_seconds: ColumnType<number, number | undefined, number>;
    daily_cap: ColumnType<number, number | undefined, number>;
    testers: ColumnType<string[], string[] | undefined, string[]>;
    category: ColumnType<string | null, string | null | undefined, string | null>;
    time_zone: ColumnType<string, string | undefined, string>;
    blocked_categories: ColumnType<string[], string[] | undefined, string[]>;
    blocked_advertisers: ColumnType<string[], string[] | undefined, string[]>;
    suspicious_views: ColumnType<SuspiciousViews, SuspiciousViews | undefined, SuspiciousViews>;
    suspicious_clicks: ColumnType<SuspiciousViews, SuspiciousViews | undefined, SuspiciousViews>;
    created_at: ColumnType<Date, Date, never>;
    updated_at: ColumnType<Date, Date, Date>;
  };
  bot_tokens: {
    bot_id: string;
    token_id: string;
    /** SHA-256 of the token. */
    lookup_hash: ColumnType<Buffer, Buffer, never>;
    /** The token, sealed by `secret-box`: signing needs the token itself. */
    ciphertext: ColumnType<Buffer, Buffer, never>;
    state: TokenState;
    created_at: ColumnType<Date, Date, never>;
    activated_at: Date | null;
    revoke_at: Date | null;
    revoked_at: Date | null;
  };
}
