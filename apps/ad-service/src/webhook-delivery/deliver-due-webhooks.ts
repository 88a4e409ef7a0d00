import type { FastifyBaseLogger } from "fastify";
import type { AdDatabase } from "../ad-database.ts";

export interface WebhookDeliveryDeps {
  database: AdDatabase;
  log: Pick<FastifyBaseLogger, "info" | "warn" | "error">;
  /** Decrypted tokens of a bot: `active` signs X-Signature, `all` sign webhook-signature. */
  signingTokens: (botId: string) => Promise<{ active: string; all: readonly string[] } | undefined>;
  isPlainHttpAllowed: boolean;
  /** CIDR networks that webhooks may reach although they are not public. */
  allowedNetworks: readonly string[];
  /** In flight at once on this node, per endpoint: 1 to 40. */
  perEndpoint?: number;
}

/** Sends what is due until it is stopped; stopping waits for what is in flight. */
export function startWebhookDelivery(_deps: WebhookDeliveryDeps): { stop(): Promise<void> } {
  return { stop: async () => {} };
}
