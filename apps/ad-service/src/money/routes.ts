import type { Database } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import { invalid, notFound } from "@intermission/server/refuse";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { recordReported } from "./held-payments.ts";
import type { Payment, PaymentProvider } from "./payment-provider.ts";

interface PaymentDeps {
  database: Database;
  providers: readonly PaymentProvider[];
  /** Of all amounts (ISO 4217). */
  currency: string;
  /** Refreshed after a payment, so that this node serves its advertiser immediately. */
  campaigns: { refresh(): Promise<void> };
  now: () => Date;
}

const MAX_BODY = 64 * 1024;

/** `POST /payments/v1/{provider}`: a payment provider reports that an advertiser paid. Each payment is credited once. */
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
              spend(request, wrongSignatures, addressNetwork(request.ip), deps.now());
              throw new HttpError(401, "UNAUTHORIZED", `this webhook is not ${provider.name}'s: ${read.fault}`);
            case "malformed":
              throw invalid(read.message);
            case "payment":
              return { outcome: await recordPayment(deps, { ...read.payment, provider: provider.name }, request.log) };
            default:
              return read satisfies never;
          }
        });
      }
    },
    { prefix: "/payments/v1" },
  );
}

async function recordPayment(
  { database, currency, campaigns, now }: PaymentDeps,
  payment: Payment & { provider: string },
  log: FastifyBaseLogger,
) {
  const { provider, paymentId, advertiserId, reference = paymentId } = payment;
  const reported = await recordReported(database, { ...payment, reference }, { currency, now: now() });
  switch (reported.outcome) {
    case "recorded":
      await campaigns.refresh();
      return "recorded";
    case "held":
      log.warn(
        { provider, paymentId, advertiserId },
        "a reported payment has the reference of one that a person has recorded, and credits nothing: decide with money held",
      );
      return "held";
    case "recorded-before":
    case "dismissed":
      return reported.outcome;
    case "reported-otherwise": {
      const message = `payment ${paymentId} was reported before with another amount, advertiser or currency: nothing is credited; see money held`;
      log.warn({ provider, paymentId, advertiserId }, message);
      throw new HttpError(409, "PAYMENT_REPORTED_OTHERWISE", message);
    }
    case "unknown-advertiser":
      throw notFound(`there is no advertiser ${advertiserId}`);
    case "other-currency":
      throw invalid(`the payment is in ${payment.currency}, the ledger in ${currency}: record what arrived by hand`);
    default:
      return reported satisfies never;
  }
}
