import type { ColumnType } from "kysely";

/** Codes are written by one hot statement; the builder only reads them. */
type Read<Value> = ColumnType<Value, never, never>;

export interface CodeTables {
  codes: {
    bot_id: Read<string>;
    code: Read<string>;
    user_id: Read<string>;
    /** Empty if there is none. */
    reference: Read<string>;
    issued_at: Read<Date>;
    expires_at: Read<Date>;
  };
  current_codes: {
    bot_id: Read<string>;
    user_id: Read<string>;
    reference: Read<string>;
    code: Read<string>;
    issued_at: Read<Date>;
    expires_at: Read<Date>;
    /** Its view was held or refused: it is not issued again. */
    is_withheld: Read<boolean>;
  };
}
