import { verify, verifyStandardWebhook } from "@intermission/ad-core/signature";

export interface WebhookRequest {
  body: Uint8Array;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type SignatureFault =
  | "missing-signature"
  | "malformed-signature"
  | "wrong-signature"
  /** `webhook-*` headers that are incomplete, or signed with another key. */
  | "wrong-webhook-signature"
  /** Signed, but not within five minutes of now: a replay of a captured webhook, or a wrong clock. */
  | "stale"
  | "future";

export type SignatureVerdict = { outcome: "signed" } | { outcome: "not-signed"; fault: SignatureFault };

/** Whether the bytes were signed with one of the tokens, by every signature in the headers. Never throws. */
export function judgeSignature(
  { body, headers }: WebhookRequest,
  tokens: readonly string[],
  now: Date,
): SignatureVerdict {
  const header = headers["x-signature"];
  if (!verify(body, header, tokens)) return notSigned(faultOf(header));
  // A sender that also uses Standard Webhooks signs the time of sending: a replayed webhook is rejected.
  if (!hasStandardHeaders(headers)) return { outcome: "signed" };
  const { outcome } = verifyStandardWebhook({ body, headers, tokens, now });
  if (outcome === "valid") return { outcome: "signed" };
  return notSigned(outcome === "stale" || outcome === "future" ? outcome : "wrong-webhook-signature");
}

function hasStandardHeaders(headers: WebhookRequest["headers"]): boolean {
  for (const name in headers) if (name.startsWith("webhook-")) return true;
  return false;
}

function notSigned(fault: SignatureFault): SignatureVerdict {
  return { outcome: "not-signed", fault };
}

function faultOf(header: string | string[] | undefined): SignatureFault {
  if (header === undefined) return "missing-signature";
  return typeof header === "string" && /^sha256=[0-9a-f]{64}$/.test(header) ? "wrong-signature" : "malformed-signature";
}
