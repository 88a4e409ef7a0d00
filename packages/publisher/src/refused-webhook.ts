import {
  judgeAge,
  judgeStandardHeaders,
  possibleOriginals,
  unpaddedTokens,
} from "@intermission/ad-core/explain-refusal";
import {
  describeRefusal,
  isSignatureTest,
  kindOfRefusal,
  refusalBody,
  type WebhookRefusal,
} from "@intermission/ad-core/webhook-refusal";

// verifyWebhook loads this file when it refuses a webhook first: the core stays small.

/** The check that a webhook did not pass; the ones before it passed. */
export type FailedCheck = "x-signature" | "webhook-headers" | "webhook-signature" | "time";

export interface RefusedWebhook {
  readonly body: Uint8Array;
  readonly tokens: readonly string[];
  /** Those of the other bots, if the tokens are passed by bot. */
  readonly othersTokens: readonly string[];
  readonly isUnlisted: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly ageSeconds: number;
  /** Whether X-Signature is the MAC of these bytes under one of the tokens. */
  readonly isSigned: (body: Uint8Array<ArrayBuffer>, tokens: readonly string[]) => Promise<boolean>;
  /** Whether webhook-signature verifies, at whatever time it was made. */
  readonly isStandardSigned: () => Promise<boolean>;
}

/** Says why a webhook did not pass a check. */
export async function explainRefusal(
  failed: FailedCheck,
  webhook: RefusedWebhook,
): Promise<{ refusal: WebhookRefusal; message: string }> {
  const refusal = await judgeRefusal(failed, webhook);
  return { refusal, message: describeRefusal(refusal) };
}

async function judgeRefusal(failed: FailedCheck, webhook: RefusedWebhook): Promise<WebhookRefusal> {
  switch (failed) {
    case "x-signature":
      return explainSignature(webhook);
    case "webhook-headers":
      return judgeStandardHeaders(webhook.headers);
    case "webhook-signature":
      return { fault: "wrong-webhook-signature", cause: "mismatch" };
    case "time":
      return judgeAge(webhook.ageSeconds);
    default:
      return failed satisfies never;
  }
}

/** A MAC proves each cause but the last four, so a sender that cannot sign learns none of them. */
async function explainSignature(webhook: RefusedWebhook): Promise<WebhookRefusal> {
  const { body, tokens, othersTokens, headers, isSigned, isStandardSigned } = webhook;
  const signature = headers["x-signature"];
  const fault = "wrong-signature";
  if (signature === undefined) return { fault: "missing-signature" };
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return { fault: "malformed-signature" };
  if (await isSigned(Uint8Array.from(body), unpaddedTokens(tokens))) return { fault, cause: "padded-token" };
  for (const original of possibleOriginals(body))
    if (await isSigned(original, tokens)) return { fault, cause: "changed-body" };
  if (await isSigned(Uint8Array.from(body), othersTokens)) return { fault, cause: "another-bot" };
  if (await isStandardSigned()) return { fault, cause: "another-token" };
  if (tokens.length + othersTokens.length === 0) return { fault, cause: "no-token" };
  if (webhook.isUnlisted) return { fault, cause: "unlisted-bot" };
  return { fault, cause: body.byteLength === 0 ? "empty-body" : "unknown" };
}

const LINE_EACH_MS = 60_000;

/** The refusals that were logged, by kind: when, and how many of the kind came since. */
export type LoggedRefusals = Map<string, { at: number; since: number }>;

/**
 * The line to log, at most one a minute for each kind of refusal, so that nobody can fill the log. It names the number of
 * those that were left out.
 */
export function refusalLine(
  { kind, message }: { readonly kind: string; readonly message: string },
  logged: LoggedRefusals,
  now: number,
): string | undefined {
  const last = logged.get(kind);
  // A clock that was set back starts anew.
  if (last && now >= last.at && now - last.at < LINE_EACH_MS) {
    last.since += 1;
    return undefined;
  }
  logged.set(kind, { at: now, since: 0 });
  const others = last && last.since > 0 ? ` (and ${last.since} more like it since the last line)` : "";
  return `a webhook was refused: ${message}${others}`;
}

/** What `webhook()` cannot read because it is mounted wrongly, whatever was sent. */
export function requestFault(fault: "of-node" | "read-before"): TypeError {
  const messages = {
    "of-node":
      "webhook() got a request of Node, not of the Fetch standard: mount toNodeHandler(webhook(…)) of @intermission/publisher/node",
    "read-before":
      "something has read the webhook's body, and its signature covers the raw bytes: pass the request before request.json() or another parser reads it, or a request.clone() made before",
  } satisfies Record<typeof fault, string>;
  return new TypeError(messages[fault]);
}

/** The 500 of a receiver that is set up wrongly. The sender learns only of faults that contain no value. */
export function notConfigured(error: unknown): Response {
  const isOurs = error instanceof TypeError;
  console.error("webhooks cannot be received:", isOurs ? error.message : error);
  const message = isOurs ? error.message : "the receiver's tokens cannot be read";
  return Response.json({ error: { code: "NOT_CONFIGURED", message } }, { status: 500 });
}

interface Refused {
  readonly outcome: "not-signed";
  readonly refusal: WebhookRefusal;
  readonly message: string;
}

const notAnEvent = "it is signed, but its body is not an event of the contract";

/** The 400 or 401 of a refused webhook, after it was reported. */
export function answerRefusal(
  refused: Refused | { readonly outcome: "malformed" },
  host: {
    readonly onRefused: ((message: string, refusal: WebhookRefusal | undefined) => void) | undefined;
    readonly logged: LoggedRefusals;
    readonly userAgent: string | null;
  },
): Response {
  const refusal = refused.outcome === "not-signed" ? refused.refusal : undefined;
  const message = refused.outcome === "not-signed" ? refused.message : notAnEvent;
  const isTest = refusal !== undefined && isSignatureTest(refusal, host.userAgent);
  const report = async () => {
    if (isTest) return;
    await (host.onRefused
      ? host.onRefused(message, refusal)
      : logRefusal({ kind: refusal ? kindOfRefusal(refusal) : "not-an-event", message }, host.logged));
  };
  // Also of an asynchronous one: an uncaught error would end the process, and anyone can cause a refusal.
  report().catch((error: unknown) => console.error("onRefused failed:", error));
  if (refusal) return Response.json(refusalBody(refusal), { status: 401 });
  return Response.json({ error: { code: "BAD_REQUEST", message } }, { status: 400 });
}

function logRefusal(refused: { readonly kind: string; readonly message: string }, logged: LoggedRefusals): void {
  const line = refusalLine(refused, logged, Date.now());
  if (line !== undefined) console.warn(line);
}
