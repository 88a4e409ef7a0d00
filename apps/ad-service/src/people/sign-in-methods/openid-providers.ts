import type { OpenIdProviderId } from "@intermission/operator-api/sign-in-methods";
import { isStorable, storableText } from "@intermission/postgres/storable-text";
import * as openid from "openid-client";

/** An OpenID provider of the settings. */
export interface OpenIdProviderSettings {
  readonly providerId: OpenIdProviderId;
  /** For people. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** How long a provider's addresses are used before they are read again. Its keys are read again when one is unknown. */
const DISCOVERED_MS = 3_600_000;
const TIMEOUT_SECONDS = 10;
/** Of an answer. */
const MAX_BODY_BYTES = 256 * 1024;
const ANSWER_MS = 10_000;
const MAX_LABEL = 128;
const MAX_SUBJECT = 255;

interface Provider extends OpenIdProviderSettings {
  discovered: { configuration: Promise<openid.Configuration>; untilMs: number } | undefined;
}

/** The providers, and where they send browsers back to. */
export interface OpenIdProviders {
  readonly byId: ReadonlyMap<OpenIdProviderId, Provider>;
  readonly redirectUri: string;
}

export function openIdProviders(settings: readonly OpenIdProviderSettings[], redirectUri: string): OpenIdProviders {
  return { byId: new Map(settings.map((one) => [one.providerId, { ...one, discovered: undefined }])), redirectUri };
}

/** What binds a provider's answer to the browser that asked: the browser keeps it sealed. */
export interface AuthorizationChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export function newChecks(): AuthorizationChecks {
  return {
    state: openid.randomState(),
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
  };
}

/** The provider cannot be used now: it does not answer, or its settings are wrong. For the log and the operator. */
export class ProviderFault extends Error {}

/** Where the browser asks the provider. Throws a `ProviderFault`. */
export async function authorizationAddress(
  { byId, redirectUri }: OpenIdProviders,
  providerId: OpenIdProviderId,
  { state, nonce, verifier }: AuthorizationChecks,
): Promise<string | undefined> {
  const provider = byId.get(providerId);
  if (provider === undefined) return undefined;
  const configuration = await configurationOf(provider);
  return openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid profile",
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  }).href;
}

/** An account at a provider. The subject is unique within the issuer, and never given to anybody else. */
export interface ProvedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly label: string;
}

type ProveIdentityOutcome =
  | { outcome: "proved"; identity: ProvedIdentity }
  /** The person did not allow it. */
  | { outcome: "cancelled" }
  /** The answer belongs to another browser, is too old, or was used before. */
  | { outcome: "expired" }
  /** The answer is not what the provider must send. */
  | { outcome: "refused"; detail: string };

/** Exchanges the provider's answer for the identity, which the provider has signed. Throws a `ProviderFault`. */
export async function proveIdentity(
  { byId, redirectUri }: OpenIdProviders,
  { providerId, checks, query }: { providerId: OpenIdProviderId; checks: AuthorizationChecks; query: string },
): Promise<ProveIdentityOutcome> {
  const answer = new URL(redirectUri);
  answer.search = query;
  const provider = byId.get(providerId);
  if (provider === undefined || answer.searchParams.get("state") !== checks.state) return { outcome: "expired" };
  const configuration = await configurationOf(provider);
  try {
    const tokens = await openid.authorizationCodeGrant(configuration, answer, {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || claims.sub.length > MAX_SUBJECT || !isStorable(claims.sub))
      return { outcome: "refused", detail: "no usable subject" };
    return { outcome: "proved", identity: { issuer: claims.iss, subject: claims.sub, label: labelOf(claims) } };
  } catch (error) {
    return outcomeOf(error, provider);
  }
}

function outcomeOf(error: unknown, { issuer }: Provider): ProveIdentityOutcome {
  if (error instanceof openid.AuthorizationResponseError) {
    return error.error === "access_denied" ? { outcome: "cancelled" } : { outcome: "refused", detail: error.error };
  }
  if (error instanceof openid.ResponseBodyError) {
    if (error.error === "invalid_grant") return { outcome: "expired" };
    // As invalid_client: the secret is wrong.
    throw new ProviderFault(`${issuer} answers ${error.error}`, { cause: error });
  }
  if (error instanceof openid.ClientError && error.code !== undefined && !unreachable.has(error.code)) {
    return { outcome: "refused", detail: error.message };
  }
  throw new ProviderFault(`${issuer} does not answer as an OpenID provider`, { cause: error });
}

const unreachable = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
]);

function labelOf({ preferred_username: username, email, name, sub }: openid.IDToken): string {
  const texts = [username, email, name, sub].filter((one) => typeof one === "string");
  return texts.map((one) => storableText(one, MAX_LABEL).trim()).find((one) => one !== "") ?? "";
}

async function configurationOf(provider: Provider): Promise<openid.Configuration> {
  const { discovered, issuer } = provider;
  if (discovered !== undefined && discovered.untilMs > performance.now()) return discovered.configuration;
  const configuration = discover(provider).catch((error: unknown) => {
    provider.discovered = undefined;
    throw new ProviderFault(`${issuer} does not describe itself as an OpenID provider`, { cause: error });
  });
  provider.discovered = { configuration, untilMs: performance.now() + DISCOVERED_MS };
  return configuration;
}

function discover({ issuer, clientId, clientSecret }: Provider): Promise<openid.Configuration> {
  // Basic is the default of the standard; a provider that takes no Basic says so.
  const authentication: openid.ClientAuth = (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const send = methods.includes("client_secret_basic") ? openid.ClientSecretBasic : openid.ClientSecretPost;
    return send(clientSecret)(server, client, body, headers);
  };
  // The settings allow http for loopback addresses of a demo alone.
  const insecure = issuer.startsWith("http:") ? [openid.allowInsecureRequests] : [];
  return openid.discovery(new URL(issuer), clientId, undefined, authentication, {
    // The signature of an ID token is checked, although it comes over TLS from the provider itself.
    execute: [openid.enableNonRepudiationChecks, ...insecure],
    timeout: TIMEOUT_SECONDS,
    [openid.customFetch]: providerFetch,
  });
}

/**
 * Requests to a service that the operator names in the settings, as an OpenID provider. It may be in a private network, unlike
 * the addresses of publishers and advertisers, so the guard of addresses does not apply. No redirect is followed, an answer
 * has 10 s and 256 KiB.
 */
async function providerFetch(url: string, options: openid.CustomFetchOptions): Promise<Response> {
  const timeout = AbortSignal.timeout(ANSWER_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  const { body = null, ...rest } = options;
  // Typed for any memory, while fetch takes what is not shared with other threads.
  const ownBody = body instanceof Uint8Array ? Buffer.from(body) : body;
  const response = await fetch(url, { ...rest, body: ownBody, signal, redirect: "manual" });
  const { status, statusText, headers } = response;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.byteLength;
    if (length > MAX_BODY_BYTES)
      throw new Error(`the answer of ${new URL(url).host} is longer than ${MAX_BODY_BYTES} bytes`);
    parts.push(part);
  }
  return new Response(length === 0 ? null : Buffer.concat(parts), { status, statusText, headers });
}
