/**
 * Refusals that screens say in the reader's language: a stable code, and the values that its sentence needs, which the answer
 * has as `details.values`. The message beside them is for the command line.
 */
export const problems = {
  ADVERTISER_CHANGED: [],
  ADVERTISER_EXISTS: ["name"],
  AMOUNT_NOT_OWED: ["owed", "currency"],
  AT_MOST_ONCE: [],
  BEING_SENT: [],
  BOT_CHANGED: [],
  BOT_EXISTS: ["botId"],
  CAMPAIGN_ARCHIVED: [],
  CAMPAIGN_CHANGED: [],
  CHANNEL_TAKEN: [],
  PAUSED_BY_OPERATOR: [],
  CREATIVE_APPROVED: [],
  CREATIVE_CHANGED: ["revision"],
  CREATIVE_IS_DRAFT: [],
  DETAILS_CHANGED: [],
  ENDPOINT_ACTIVE: [],
  ENDPOINT_DISABLED: [],
  HELD: [],
  IDEMPOTENCY_KEY_REUSED: [],
  LAST_SIGN_IN_METHOD: [],
  LEDGER_HAS_ENTRIES: ["stored", "currency"],
  LINKED_ALREADY: [],
  MONTH_NOT_OVER: ["month"],
  NAME_TAKEN: ["name"],
  NEXT_TOKEN_EXISTS: ["tokenId"],
  NOTHING_DUE: ["month"],
  NOTHING_OWED: ["month"],
  NOT_CHARGED: [],
  NOT_HELD: ["state"],
  NOT_KEPT: ["since"],
  NOT_IMPERSONATING: [],
  NO_ENDPOINT: [],
  NO_PASSWORD: [],
  NO_TOKEN: [],
  NO_VIDEO: [],
  OWN_ACCOUNT: [],
  PAID: ["until"],
  PASSKEY_NOT_ADDED: [],
  PASSKEY_TOO_LATE: [],
  PAYMENT_DECIDED: ["state"],
  PAYMENT_NOT_CREDITABLE: [],
  PERSON_CHANGED: [],
  PERSON_DISABLED: [],
  PERSON_EXISTS: [],
  REFUNDED: [],
  NO_MAIL_SERVER: [],
  REPORT_NAME_TAKEN: ["name"],
  REVERSED: [],
  SAMPLE: [],
  SAMPLE_IN_USE: ["name"],
  SAMPLE_REMOVING: [],
  TELEGRAM_REFUSES: [],
  SEPA_ACCOUNTS_ONLY: ["names"],
  SEPA_DEBTOR_NEEDED: [],
  SEPA_EUR_ONLY: ["currency"],
  TERMS_CHANGED: [],
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

/** Refusals of any route, which have no values. The message beside them says more in English. */
export const generalProblems = [
  "ADDRESS_TOO_LONG",
  "BAD_REQUEST",
  "BODY_TOO_LARGE",
  "CONFIRMATION_NEEDED",
  "FORBIDDEN",
  "INTERNAL",
  "METHOD_NOT_ALLOWED",
  "NOT_FOUND",
  "NO_SESSION",
  "OTHER_ORIGIN",
  "READ_ONLY",
  "REQUEST_TIMEOUT",
  "SIGNED_OUT",
  "SIGN_IN_AGAIN",
  "STORAGE_FULL",
  "STORAGE_UNWRITABLE",
  "TOO_MANY_REQUESTS",
  "UNAUTHORIZED",
  "UNAVAILABLE",
  "UNSUPPORTED_MEDIA_TYPE",
] as const;
export type GeneralProblem = (typeof generalProblems)[number];

/** Why a sign-in was refused. */
export const signInProblems = [
  "NOT_LINKED",
  "NOT_SIGNED_IN",
  "PASSKEY_REFUSED",
  "PROVIDER_REFUSED",
  "PROVIDER_UNAVAILABLE",
  "SIGN_IN_CANCELLED",
  "SIGN_IN_EXPIRED",
] as const;
export type SignInProblem = (typeof signInProblems)[number];
