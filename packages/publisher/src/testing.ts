/** For publishers' own tests: webhooks and launch data that verify, an ad service and a companion API in memory. Needs Node, Bun or Deno. */
export { fakeAdService } from "./testing/fake-ad-service.ts";
export {
  type FakeCompanion,
  type FakeCompanionOptions,
  type FakeCredit,
  fakeCompanion,
} from "./testing/fake-companion.ts";
export type {
  Earning,
  FakeAdService,
  FakeAdServiceOptions,
  FakeAvailability,
  FakeWebhook,
} from "./testing/fake-interface.ts";
export { type LaunchToSign, signLaunch } from "./testing/sign-launch.ts";
export { type SignedWebhook, signWebhook, type WebhookToSign } from "./testing/sign-webhook.ts";
