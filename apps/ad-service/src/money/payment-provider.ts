import { type StandardWebhookKey, verifyStandardWebhook } from "@intermission/ad-core/signature";
import { readAmount } from "@intermission/operator-api/amounts";
import { storableText } from "@intermission/postgres/storable-text";
import { z } from "zod";

/** A webhook as it arrived. */
interface PaymentWebhook {
  headers: Readonly<Record<string, unknown>>;
  body: Uint8Array;
  now: Date;
}

type PaymentReading =
  | { outcome: "payment"; payment: Payment }
  /** Authentic, but not about a payment that arrived. */
  | { outcome: "ignored" }
  | { outcome: "not-authentic"; fault: string }
  | { outcome: "malformed"; message: string };

export interface Payment {
  /** The provider's: one id is one payment, however often it is reported. */
  paymentId: string;
  /** The id of the advertiser, which the provider got with the request for the payment. */
  advertiserId: string;
  amountMicros: number;
  currency: string;
  reference: string | undefined;
}

/** What a payment provider needs here: who it is, and how its webhooks are read. */
export interface PaymentProvider {
  /** Part of the address: `/payments/v1/{name}`. */
  readonly name: string;
  /** Verifies the webhook first. Never throws for any webhook. */
  readWebhook(webhook: PaymentWebhook): PaymentReading;
}

const MAX_REFERENCE = 128;
const event = z.object({
  type: z.string().max(128),
  data: z.unknown(),
});
const payment = z.object({
  id: z.string().regex(/^[\x21-\x7e]{1,128}$/, "must be the provider's id of the payment, without blanks"),
  advertiser_id: z.string().regex(/^adv_[0-9A-Za-z]{1,60}$/, "must be the id of an advertiser"),
  amount: z.string(),
  currency: z.string().regex(/^[A-Z]{3}$/, "must be an ISO 4217 currency code"),
  // A payment that arrived is not lost for what stands in it.
  reference: z
    .string()
    .transform((text) => storableText(text, MAX_REFERENCE).trim() || undefined)
    .optional(),
});

/**
 * The example: any provider, or a small bridge to one, that signs by Standard Webhooks 1.0 and reports
 * `{"type": "payment.succeeded", "data": {"id", "advertiser_id", "amount": "12.50", "currency", "reference"}}`.
 */
export function standardProvider(key: StandardWebhookKey): PaymentProvider {
  return {
    name: "standard",
    readWebhook({ headers, body, now }) {
      const verdict = verifyStandardWebhook({ headers, body, tokens: [key], now });
      if (verdict.outcome !== "valid") return { outcome: "not-authentic", fault: verdict.outcome };
      return readEvent(body);
    },
  };
}

function readEvent(body: Uint8Array): PaymentReading {
  const read = event.safeParse(parsedJson(body));
  if (!read.success) return { outcome: "malformed", message: z.prettifyError(read.error) };
  if (read.data.type !== "payment.succeeded") return { outcome: "ignored" };
  const { success, data, error } = payment.safeParse(read.data.data);
  if (!success) return { outcome: "malformed", message: z.prettifyError(error) };
  const amount = readAmount(data.amount, "payment");
  if (amount.outcome === "refused") return { outcome: "malformed", message: `amount ${amount.message}` };
  const { id: paymentId, advertiser_id: advertiserId, currency, reference } = data;
  return {
    outcome: "payment",
    payment: { paymentId, advertiserId, amountMicros: amount.micros, currency, reference },
  };
}

/** Undefined for text that is not JSON. */
function parsedJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
