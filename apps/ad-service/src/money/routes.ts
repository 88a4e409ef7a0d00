import type { Database } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import { invalid, notFound } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { findAdvertiser } from "../advertisers/advertisers.ts";
import { advertiserAccount, movement, recordTransaction } from "./ledger.ts";
import type { Payment, PaymentProvider } from "./payment-provider.ts";

export interface PaymentDeps {
  database: Database;
  providers: readonly PaymentProvider[];
  /** Of all amounts (ISO 4217). */
  currency: string;
  /** Refreshed after a payment, so that this node serves its advertiser immediately. */
  campaigns: { refresh(): Promise<void> };
  now: () => Date;
}

const MAX_BODY = 64 * 1024;

/** `POST /payments/v1/{provider}`: a payment provider reports that an advertiser paid. Each payment is recorded once. */
export function paymentRoutes(app: FastifyInstance, deps: PaymentDeps): void {
  const wrongSignatures = rateLimiter({ quota: 20, windowSeconds: 100, maxKeys: 20_000 });
  app.register(
    async (scope) => {
      // The signature covers the raw bytes: they must not be parsed before.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
      for (const provider of deps.providers) {
        scope.post(`/${provider.name}`, { bodyLimit: MAX_BODY }, async (request, reply) => {
          reply.header("cache-control", "no-store");
          const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
          const read = provider.readWebhook({ headers: request.headers, body, now: deps.now() });
          switch (read.outcome) {
            case "ignored":
              return { outcome: "ignored" };
            case "not-authentic":
              spend(wrongSignatures, addressNetwork(request.ip), deps.now());
              throw new HttpError(401, "UNAUTHORIZED", `this webhook is not ${provider.name}'s: ${read.fault}`);
            case "malformed":
              throw invalid(read.message);
            case "payment":
              return { outcome: await recordPayment(deps, provider.name, read.payment) };
            default:
              return read satisfies never;
          }
        });
      }
    },
    { prefix: "/payments/v1" },
  );
}

async function recordPayment({ database, currency, campaigns, now }: PaymentDeps, provider: string, payment: Payment) {
  const { paymentId, advertiserId, amountMicros, reference = paymentId } = payment;
  const known = await findAdvertiser(database, advertiserId);
  if (known?.advertiserId !== advertiserId) throw notFound(`there is no advertiser ${advertiserId}`);
  if (payment.currency !== currency)
    throw invalid(`the payment is in ${payment.currency}, the ledger in ${currency}: record what arrived by hand`);
  const recorded = await recordTransaction(database, {
    transactionId: `payment ${provider} ${paymentId}`,
    kind: "top_up",
    entries: movement({ from: "cash", to: advertiserAccount(advertiserId), amountMicros }),
    currency,
    reference,
    note: `reported by ${provider}`,
    at: now(),
  });
  if (recorded === "recorded") await campaigns.refresh();
  return recorded;
}
