/** The headers of Standard Webhooks, which are sent together. */
export const standardHeaders = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
export type StandardHeader = (typeof standardHeaders)[number];

/** Why X-Signature does not match. `unknown`, `no-token` and `unlisted-bot` need no proof; the others are returned only with one. */
export type WrongSignatureCause =
  /** Another token, or a body that was changed beyond recognition: the two look the same. */
  | "unknown"
  /** It matches the JSON of the body as the ad service writes it: something wrote the body anew. */
  | "changed-body"
  /** There are no bytes: something read them before, or something else than bytes was to be verified. */
  | "empty-body"
  /** The receiver has no token at all, as where the variable is not set. */
  | "no-token"
  /** `webhook-signature`, which is made with every token, matches one of the receiver's: tokens rotate. */
  | "another-token"
  /** It matches a token that the receiver has for another bot than the one that the event names. */
  | "another-bot"
  /** The receiver has tokens by bot, and none for the bot that the event names. */
  | "unlisted-bot"
  /** It matches a token without the blanks, line breaks or quotes around it. */
  | "padded-token";

const wholeHeaderCauses = ["no-headers", "milliseconds", "mismatch"] as const;
const oneHeaderCauses = ["missing-header", "malformed-header"] as const;

/** Why a receiver refuses a webhook before it reads the event. */
export type WebhookRefusal =
  | { readonly fault: "missing-signature" | "malformed-signature" }
  | { readonly fault: "wrong-signature"; readonly cause: WrongSignatureCause }
  | { readonly fault: "wrong-webhook-signature"; readonly cause: (typeof wholeHeaderCauses)[number] }
  | {
      readonly fault: "wrong-webhook-signature";
      readonly cause: (typeof oneHeaderCauses)[number];
      readonly header: StandardHeader;
    }
  /** Genuine, but sent this long ago (`stale`) or ahead (`future`) by the receiver's clock. Only said after the MAC matched. */
  | { readonly fault: "stale" | "future"; readonly seconds: number };

export type WebhookFault = WebhookRefusal["fault"];

const wrongSignature: Record<WrongSignatureCause, string> = {
  unknown:
    "X-Signature does not match the body: the receiver has another token, or something changed the body before it was verified",
  "changed-body":
    "X-Signature matches the body as it was sent, not the bytes that were verified: a parser or a proxy wrote the body anew. Verify the raw bytes, before any parser",
  "empty-body":
    "there are no bytes to verify: something read the body before, or a parsed object or a promise was passed instead of it. Verify the raw bytes, before any parser",
  "no-token":
    "the receiver has no API token to verify with: its setting, usually the variable AD_API_TOKEN, is not set where it runs",
  "another-token":
    "X-Signature is made with a token that the receiver does not have, and webhook-signature with one that it has: the tokens rotate. Add the bot's newest token to the receiver's list",
  "another-bot":
    "X-Signature is made with a token that the receiver has for another bot than the event's bot_id: pass each bot's tokens under its own id, and test the webhook of each bot",
  "unlisted-bot":
    "the receiver has tokens by bot, and none for the event's bot_id: add this bot's id and its API token",
  "padded-token":
    "X-Signature matches the receiver's token without the blanks, line breaks or quotes around it: remove them from the setting",
};

const SIGNATURE_TEST = "test of a wrong signature";
/** With which the ad service sends an event with a wrong signature, after a test. */
export const SIGNATURE_TEST_USER_AGENT = `Intermission-Webhooks/1.0 (${SIGNATURE_TEST})`;

/** Whether what was refused was sent to see that it is refused: no fault, for logs and counts. */
export function isSignatureTest(refusal: WebhookRefusal, userAgent: string | null | undefined): boolean {
  return refusal.fault === "wrong-signature" && (userAgent ?? "").endsWith(`(${SIGNATURE_TEST})`);
}

/** What a log counts as one: a forged webhook must not hide another cause. Of a bounded number, whatever is sent. */
export function kindOfRefusal(refusal: WebhookRefusal): string {
  return "cause" in refusal ? `${refusal.fault} ${refusal.cause}` : refusal.fault;
}

/** `machine`: whose clock and settings are meant, as the reader calls the receiver. */
export function describeRefusal(refusal: WebhookRefusal, machine = "this machine"): string {
  switch (refusal.fault) {
    case "missing-signature":
      return "X-Signature is missing: the request is not a webhook, a proxy removed the header, or the receiver does not read the request's headers";
    case "malformed-signature":
      return "X-Signature is malformed: it is sent once, as sha256= and 64 lower-case hex digits";
    case "wrong-signature":
      return wrongSignature[refusal.cause];
    case "wrong-webhook-signature":
      return describeStandardHeaders(refusal);
    case "stale":
      return `the signature is genuine, but the webhook was sent ${refusal.seconds} s ago by the clock of ${machine}: check that clock (NTP). If it is right, this is a repeat of an old webhook`;
    case "future":
      return `the signature is genuine, but the webhook was sent ${refusal.seconds} s in the future by the clock of ${machine}: check that clock (NTP)`;
    default:
      return refusal satisfies never;
  }
}

function describeStandardHeaders(refusal: Extract<WebhookRefusal, { fault: "wrong-webhook-signature" }>): string {
  switch (refusal.cause) {
    case "no-headers":
      return "webhook-id, webhook-timestamp and webhook-signature are missing, and the receiver needs a signed time, which X-Timestamp is not: a proxy removed them, or the ad service sends X-Signature alone, which the receiver can allow";
    case "missing-header":
      return `${refusal.header} is missing, though other webhook-* headers came: a proxy removed it`;
    case "malformed-header":
      return `${refusal.header} is malformed${refusal.header === "webhook-timestamp" ? ": it is Unix time in whole seconds" : ""}`;
    case "milliseconds":
      return "webhook-timestamp is in milliseconds: it is Unix time in whole seconds";
    case "mismatch":
      return "X-Signature matches the body, and webhook-signature does not match id, time and body: something changed a webhook-* header";
    default:
      return refusal satisfies never;
  }
}

/** The body of a receiver's 401, of this project's receivers. */
export function refusalBody(refusal: WebhookRefusal): object {
  return { error: { code: "BAD_SIGNATURE", message: describeRefusal(refusal), details: refusal } };
}

const withoutSeconds: readonly WebhookRefusal[] = [
  { fault: "missing-signature" },
  { fault: "malformed-signature" },
  ...(Object.keys(wrongSignature) as WrongSignatureCause[]).map(
    (cause) => ({ fault: "wrong-signature", cause }) as const,
  ),
  ...wholeHeaderCauses.map((cause) => ({ fault: "wrong-webhook-signature", cause }) as const),
  ...standardHeaders.flatMap((header) =>
    oneHeaderCauses.map((cause) => ({ fault: "wrong-webhook-signature", cause, header }) as const),
  ),
];

/**
 * Reads the answer of a receiver, if it is one of this project's: the facts of {@link refusalBody}, or those of FastAPI's
 * error. The receiver's own words are not used, since anyone may have written them.
 */
export function refusalOfAnswer(text: string): WebhookRefusal | undefined {
  const facts = factsOf(text);
  const { fault, seconds } = facts;
  if (fault === "stale" || fault === "future")
    return typeof seconds === "number" && Number.isSafeInteger(seconds) ? { fault, seconds } : undefined;
  return withoutSeconds.find((refusal) =>
    (["fault", "cause", "header"] as const).every(
      (name) => facts[name] === (refusal as Readonly<Record<string, unknown>>)[name],
    ),
  );
}

function factsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const { error, detail } = JSON.parse(text);
    return (error ?? detail)?.details ?? {};
  } catch {
    return {};
  }
}
