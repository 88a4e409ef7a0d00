/** Everything that a bot's backend needs of an ad service: fetch and WebCrypto only, on Node 20, Bun, Deno and Workers. */
export { type Ads, AdsError, type AdsOptions, createAds } from "./create-ads.ts";
export { type CursorStore, reconcile } from "./reconcile.ts";
export { type AdEvent, type VerifiedWebhook, type VerifyOptions, verifyWebhook } from "./verify-webhook.ts";
export { type EventStore, memoryStore, type WebhookOptions, webhook } from "./webhook.ts";
