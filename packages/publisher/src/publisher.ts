/** What a bot's backend needs of an ad service. Uses only fetch and WebCrypto: runs on Node 20.3, Bun, Deno and Workers. */
export { AdsError } from "./ads-error.ts";
export type { Card } from "./cards.ts";
export type {
  CodeDescription,
  EventAttempts,
  ReferenceFigures,
  ReferenceStats,
  Stats,
  StatsFigures,
} from "./client-answers.ts";
export {
  type Ads,
  type AdsOptions,
  type Availability,
  type CallOptions,
  type Code,
  type Consent,
  createAds,
  type EventsPage,
  type ListedEvent,
  type StatsQuery,
  type WebhookTest,
  type WebhookTestRequest,
} from "./create-ads.ts";
export type { JoinStore, PendingJoin } from "./join-store.ts";
export { type EventStore, memoryStore } from "./memory-store.ts";
export { type CursorStore, reconcile } from "./reconcile.ts";
export {
  type AdEvent,
  type TokensByBot,
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookRefusal,
} from "./verify-webhook.ts";
export { type WebhookOptions, webhook } from "./webhook.ts";
