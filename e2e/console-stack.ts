import { type OpenIdProviderFixture, startOpenIdProvider } from "../packages/testing/src/openid-provider.ts";
import { test as base } from "./stack.ts";

/**
 * For flows of the console: a stack that they do not share with flows of viewers, since they add bots, and pause and archive
 * campaigns. They share it with one another: each file's bots, advertisers and campaigns have names of their own. People may
 * sign in by a provider of the tests. Playwright starts a new worker for a worker fixture that the others do not have.
 */
export const test = base.extend<object, { provider: OpenIdProviderFixture }>({
  provider: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
    async ({}, use) => {
      const provider = await startOpenIdProvider({ redirectUris: /^http:\/\/localhost:\d+\/console\/openid$/ });
      await use(provider);
      await provider.close();
    },
    { scope: "worker" },
  ],
  adServiceEnv: [
    async ({ provider }, use) => {
      const { issuer, clientId, clientSecret } = provider;
      await use({
        OIDC_ISSUER: issuer,
        OIDC_CLIENT_ID: clientId,
        OIDC_CLIENT_SECRET: clientSecret,
        OIDC_NAME: "Telegram",
        VIDEO_ALLOWED_NETWORKS: "127.0.0.0/8",
      });
    },
    { scope: "worker" },
  ],
});
export { expect } from "./stack.ts";
