/** For publishers' own tests: webhooks and launch data that verify, and an ad service in memory. Needs Node, Bun or Deno. */
export { type LaunchToSign, signLaunch } from "./testing/sign-launch.ts";
export { type SignedWebhook, signWebhook, type WebhookToSign } from "./testing/sign-webhook.ts";
