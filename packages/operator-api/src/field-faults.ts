/**
 * What can be wrong with a field of a request: a stable code, and the values that its sentence needs. Refusals (400) have them
 * beside the field and the message, which is for programs and the command line; screens have a sentence in each language.
 */
export const fieldFaults = {
  ABOVE_TOTAL: [],
  ADDRESS_FRAGMENT: [],
  ADDRESS_NEEDS_HTTPS: [],
  ADDRESS_SCHEME: [],
  ADDRESS_USER_INFO: [],
  ADVERTISER_ARCHIVED: ["name"],
  ADVERTISER_CHARGED: [],
  ADVERTISER_UNKNOWN: [],
  AMOUNT: ["min", "max", "fault", "write"],
  AT_LEAST: ["min"],
  AT_MOST: ["max"],
  CALL_TO_ACTION_NEEDS_ADDRESS: [],
  CHANGE_NOTHING: [],
  CHARACTERS_AT_LEAST: ["min"],
  CHARACTERS_AT_MOST: ["max"],
  CONTROL_CHARACTERS: [],
  COUNTRIES_UNKNOWN: [],
  COUNTRY_CODE: [],
  CURRENCY_CODE: [],
  CURSOR: [],
  DIMENSIONS: [],
  EMAIL: [],
  EMPTY: [],
  END_BEFORE_START: [],
  ENTRIES_AT_LEAST: ["min"],
  ENTRIES_AT_MOST: ["max"],
  HEX_KEY: [],
  ID: [],
  LANGUAGE_CODE: [],
  LINK_NEEDS_ADDRESS: [],
  LINK_NEEDS_NO_VIDEO: [],
  LIST: [],
  MICROS: ["min", "max"],
  MISSING: [],
  MOMENT: [],
  MONTH: [],
  NAME_WORD: [],
  NOT_AN_ADDRESS: [],
  NOT_FOR_PREPAID: [],
  NOT_FOR_ROLE: ["role"],
  NUMBER: [],
  OBJECT: [],
  OF_LINKS_ONLY: [],
  OF_VIDEOS_ONLY: [],
  ONE_OF: ["words"],
  OPERATOR_ONLY: [],
  OTHER_ADDRESS_NEEDED: [],
  PERIOD_TOO_LONG: ["days"],
  PLURAL_FORMS: ["language", "forms"],
  PRICE_TOO_FINE: ["above"],
  REPORT_ADDRESS: [],
  REVERT_NOTHING: [],
  REVERT_REFUSED: ["setting"],
  REWARD_NEEDS_UNIT: [],
  ROLE_NEEDS: ["role"],
  SAMPLE_BOTS_ONLY: [],
  SINCE_FUTURE: [],
  TELEGRAM_CHAT: [],
  TELEGRAM_ID: [],
  TEXT: [],
  TIME_ZONE: [],
  TOKEN: [],
  TOTP_CODE: [],
  TOTP_CODE_WRONG: [],
  TRUE_OR_FALSE: [],
  TWICE: [],
  UNKNOWN_FIELDS: ["names"],
  UNKNOWN_LANGUAGE: ["language"],
  USERNAME: [],
  USER_CAP_HALF: [],
  VIDEO_NEEDED: [],
  WHOLE_NUMBER: [],
  ZERO_CHARACTER: [],
} as const satisfies Record<string, readonly string[]>;

export type FieldFaultCode = keyof typeof fieldFaults;

export type FieldFaultValues<Code extends FieldFaultCode> = {
  readonly [Name in (typeof fieldFaults)[Code][number]]: string;
};

/** As a refusal has it beside the field. */
export interface FieldFault {
  readonly code: FieldFaultCode;
  readonly values: Readonly<Record<string, string>>;
}
