/**
 * Refusals that screens say in the reader's language: a stable code, and the values that its sentence needs, which the answer
 * has as `details.values`. The message beside them is for the command line.
 */
export const problems = {
  ADVERTISER_EXISTS: ["name"],
  AT_MOST_ONCE: [],
  BEING_SENT: [],
  BOT_EXISTS: ["botId"],
  CAMPAIGN_ARCHIVED: [],
  CAMPAIGN_CHANGED: [],
  CREATIVE_APPROVED: [],
  CREATIVE_CHANGED: ["revision"],
  CREATIVE_IS_DRAFT: [],
  ENDPOINT_ACTIVE: [],
  ENDPOINT_DISABLED: [],
  HELD: [],
  LAST_SIGN_IN_METHOD: [],
  LEDGER_HAS_ENTRIES: ["stored", "currency"],
  LINKED_ALREADY: [],
  MONTH_NOT_OVER: ["month"],
  NAME_TAKEN: ["name"],
  NEXT_TOKEN_EXISTS: ["tokenId"],
  NOTHING_OWED: ["month"],
  NOT_CHARGED: [],
  NOT_HELD: ["state"],
  NOT_KEPT: ["since"],
  NOT_IMPERSONATING: [],
  NO_ENDPOINT: [],
  NO_TOKEN: [],
  NO_VIDEO: [],
  OWN_ACCOUNT: [],
  PAID: ["until"],
  PASSKEY_NOT_ADDED: [],
  PASSKEY_TOO_LATE: [],
  PERSON_DISABLED: [],
  PERSON_EXISTS: [],
  REFUNDED: [],
  REPORT_NAME_TAKEN: ["name"],
  REVERSED: [],
  SAMPLE: [],
  SAMPLE_IN_USE: ["name"],
  SAMPLE_REMOVING: [],
  TEST_EVENT: [],
  TEST_UNDER_WAY: [],
  TOKEN_NOT_NEXT: ["state"],
  TOKEN_REVOKED: [],
  TOO_MANY_METHODS: [],
  TOO_MANY_REPORTS: ["max"],
  TOO_MANY_UPLOADS: ["own", "all"],
  UNDER_WAY: [],
  UPLOAD_UNFINISHED: ["sent"],
} as const satisfies Record<string, readonly string[]>;

export type ProblemCode = keyof typeof problems;

export type ProblemValues<Code extends ProblemCode> = {
  readonly [Name in (typeof problems)[Code][number]]: string;
};
