import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export type OpenIdProviderFixture = Awaited<ReturnType<typeof startOpenIdProvider>>;

/** Whoever has the browser, at the provider. */
interface ProviderAccount {
  subject: string;
  username: string;
}

/**
 * A real OpenID provider on a free port of 127.0.0.1, with one client, which must use PKCE. `redirectUris` is a pattern where
 * the client's port is not known yet. Its sign-in page is left out:
 * `browser.account` has signed in already; undefined: the person refuses.
 */
export async function startOpenIdProvider({ redirectUris }: { redirectUris: string[] | RegExp }) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { clientId: "intermission", clientSecret: "s".repeat(40) };
  const browser: { account: ProviderAccount | undefined } = { account: { subject: "1001", username: "ann" } };
  const names = new Map<string, string>();
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: redirectUris instanceof RegExp ? ["http://localhost/"] : redirectUris,
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "test" }] },
    cookies: { keys: ["of a test"] },
    claims: { openid: ["sub"], profile: ["preferred_username"] },
    // As Telegram does: the ID token has the claims of the scope.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    ttl: { Grant: 600, Interaction: 600, Session: 600, AuthorizationCode: 60, AccessToken: 600, IdToken: 600 },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, subject) => ({
      accountId: subject,
      claims: () => ({ sub: subject, preferred_username: names.get(subject) }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId });
      grant.addOIDCScope("openid profile");
      await grant.save();
      return grant;
    },
  });
  const isRedirectUri = (uri: string) =>
    redirectUris instanceof RegExp ? redirectUris.test(uri) : redirectUris.includes(uri);
  provider.Client.prototype.redirectUriAllowed = isRedirectUri;
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return answer(request, response);
    const { account } = browser;
    if (account !== undefined) names.set(account.subject, account.username);
    const result =
      account === undefined ? { error: "access_denied" } : { login: { accountId: account.subject, remember: false } };
    provider.interactionFinished(request, response, result).catch((error: Error) => response.destroy(error));
  });

  return {
    issuer,
    ...client,
    browser,
    /** What a browser does that is sent to an address of the provider: the query with which it comes back. */
    async follow(address: string): Promise<string> {
      const cookies = new Map<string, string>();
      let next = new URL(address);
      for (let redirects = 0; redirects < 10; redirects += 1) {
        const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
        const response = await fetch(next, { redirect: "manual", headers: { cookie } });
        for (const set of response.headers.getSetCookie()) {
          const [pair = ""] = set.split(";");
          cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
        }
        const location = response.headers.get("location");
        if (location === null) throw new Error(`${next} answered ${response.status}: ${await response.text()}`);
        next = new URL(location, next);
        if (isRedirectUri(`${next.origin}${next.pathname}`)) return next.search.slice(1);
      }
      throw new Error("the provider redirects without end");
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
