import {
  judgeAge,
  judgeStandardHeaders,
  possibleOriginals,
  unpaddedTokens,
} from "@intermission/ad-core/explain-refusal";
import { verify, verifyStandardWebhook } from "@intermission/ad-core/signature";
import type { WebhookRefusal, WrongSignatureCause } from "@intermission/ad-core/webhook-refusal";

export interface WebhookRequest {
  body: Uint8Array;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type SignatureVerdict = { outcome: "signed" } | { outcome: "not-signed"; refusal: WebhookRefusal };

/** Whether the bytes were signed with one of the tokens, by every signature in the headers. Never throws. */
export function judgeSignature(request: WebhookRequest, tokens: readonly string[], now: Date): SignatureVerdict {
  const { body, headers } = request;
  const header = headers["x-signature"];
  if (!verify(body, header, tokens)) return notSigned(explainSignature(request, tokens));
  // A sender that also uses Standard Webhooks signs the time of sending: a replayed webhook is rejected.
  if (!hasStandardHeaders(headers)) return { outcome: "signed" };
  const { outcome } = verifyStandardWebhook({ body, headers, tokens, now });
  switch (outcome) {
    case "valid":
      return { outcome: "signed" };
    case "wrong-signature":
      return notSigned({ fault: "wrong-webhook-signature", cause: "mismatch" });
    case "missing-header":
    case "malformed-header":
      return notSigned(judgeStandardHeaders(headers));
    case "stale":
    case "future":
      return notSigned(judgeAge(now.getTime() / 1000 - Number(headers["webhook-timestamp"])));
    default:
      return outcome satisfies never;
  }
}

function hasStandardHeaders(headers: WebhookRequest["headers"]): boolean {
  for (const name in headers) if (name.startsWith("webhook-")) return true;
  return false;
}

function notSigned(refusal: WebhookRefusal): SignatureVerdict {
  return { outcome: "not-signed", refusal };
}

function explainSignature(request: WebhookRequest, tokens: readonly string[]): WebhookRefusal {
  const header = request.headers["x-signature"];
  if (header === undefined) return { fault: "missing-signature" };
  if (typeof header !== "string" || !/^sha256=[0-9a-f]{64}$/.test(header)) return { fault: "malformed-signature" };
  return { fault: "wrong-signature", cause: causeOf(request, tokens) };
}

/** A MAC proves each cause but the last ones, so a sender that cannot sign learns none of them. */
function causeOf({ body, headers }: WebhookRequest, tokens: readonly string[]): WrongSignatureCause {
  const header = headers["x-signature"];
  if (verify(body, header, unpaddedTokens(tokens))) return "padded-token";
  if (possibleOriginals(body).some((original) => verify(original, header, tokens))) return "changed-body";
  const anyTime = { now: new Date(0), toleranceSeconds: Number.POSITIVE_INFINITY };
  if (verifyStandardWebhook({ body, headers, tokens, ...anyTime }).outcome === "valid") return "another-token";
  return body.byteLength === 0 ? "empty-body" : "unknown";
}
