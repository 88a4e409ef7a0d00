import type { OpenIdProviderId } from "@intermission/operator-api/sign-in-methods";
import { signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { countingFor } from "@intermission/server/counted-calls";
import type { HttpError } from "@intermission/server/http-server";
import { slowDown } from "@intermission/server/rate-limiter";
import { conflict, notFound, refusal } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import { type OperatorHandlers, serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sessionOf } from "../guard.ts";
import { answerSignIn, browserOf } from "../sessions.ts";
import { type SignIns, waitOfAddress } from "../sign-in.ts";
import { acceptByIdentity, linkIdentity, signInByIdentity } from "./identities.ts";
import { type OpenIdPurpose, openIdFlow } from "./openid-flow.ts";
import {
  authorizationAddress,
  newChecks,
  type OpenIdProviders,
  type ProvedIdentity,
  ProviderFault,
  proveIdentity,
} from "./openid-providers.ts";
import {
  additionOptions,
  addPasskey,
  passkeyChallenge,
  renamePasskey,
  signInOptions,
  signInWithPasskey,
} from "./passkeys.ts";
import { endedSealedCookie, readSealedCookie, writeSealedCookie } from "./sealed-cookie.ts";
import { type RemovalDecision, readSignInMethods, removeSignInMethod, type StoredIdentity } from "./sign-in-methods.ts";

interface SignInMethodOperatorDeps {
  database: Database;
  secretBox: SecretBox;
  publicUrl: string;
  signIns: SignIns;
  openId: OpenIdProviders;
  now: () => Date;
}

/** Signing in by an OpenID provider or a passkey, and the own ways to sign in. */
export function signInMethodOperatorRoutes(scope: CheckedScope, deps: SignInMethodOperatorDeps): void {
  serveOperatorRoutes(scope, signInMethodRoutes, {
    ...openIdHandlers(deps),
    ...passkeyHandlers(deps),
    ...methodHandlers(deps),
  });
}

type Handlers = OperatorHandlers<typeof signInMethodRoutes>;
type Answer = Pick<FastifyReply, "header">;

function openIdHandlers(deps: SignInMethodOperatorDeps) {
  const { database, openId, now } = deps;

  return {
    async listSignInProviders() {
      return { providers: providersOf(openId) };
    },

    startOpenIdSignIn: async ({ http, body: { providerId, invitation } }, answer) =>
      begin(deps, { http, answer }, { providerId, purpose: purposeOf(invitation) }),

    async finishOpenIdSignIn({ http, body: { query } }, answer) {
      const { purpose, identity } = await finish(deps, { http, answer }, query);
      const signingIn = { browser: browserOf(http), author: authorOf(http), now: now() };
      switch (purpose.kind) {
        case "sign-in": {
          const signedIn = await signInByIdentity(database, identity, signingIn);
          if (signedIn.outcome === "not-linked") throw notLinked();
          return answerSignIn(signedIn, answer);
        }
        case "invitation": {
          const accepted = await acceptByIdentity(database, { identity, invitation: purpose.token }, signingIn);
          if (accepted.outcome === "unknown-invitation") {
            throw notFound("this invitation was used, has expired, or was replaced: ask for another one");
          }
          if (accepted.outcome === "linked-elsewhere") throw linkedAlready();
          return answerSignIn(accepted, answer);
        }
        case "link":
          throw expired();
        default:
          throw purpose satisfies never;
      }
    },

    startLinkingIdentity: async ({ http, body: { providerId } }, answer) =>
      begin(
        deps,
        { http, answer },
        { providerId, purpose: { kind: "link", personId: sessionOf(http).person.personId } },
      ),

    async linkIdentity({ http, body: { query } }, answer) {
      const { personId } = sessionOf(http).person;
      const { purpose, identity } = await finish(deps, { http, answer }, query);
      // Somebody else has signed in to this browser meanwhile.
      if (purpose.kind !== "link" || purpose.personId !== personId) throw expired();
      const linked = await linkIdentity(database, { personId, identity, author: authorOf(http), now: now() });
      if (linked.outcome === "linked-already") throw linkedAlready();
      if (linked.outcome === "too-many") throw tooMany();
      const { identities } = await readSignInMethods(database, personId);
      const stored = identities.find(({ identityId }) => identityId === linked.identityId);
      if (stored === undefined) throw new Error("the linked account disappeared");
      return listed(openId, stored);
    },

    async unlinkIdentity({ http, params: { identityId } }) {
      const { personId } = sessionOf(http).person;
      const of = { personId, id: { identityId }, author: authorOf(http) };
      return removed(await removeSignInMethod(database, of), "linked account");
    },
  } satisfies Partial<Handlers>;
}

function purposeOf(invitation: string | undefined): OpenIdPurpose {
  return invitation === undefined ? { kind: "sign-in" } : { kind: "invitation", token: invitation };
}

interface Exchange {
  http: FastifyRequest;
  answer: Answer;
}

/** Sends the browser to the provider. A cookie keeps what the provider's answer is compared with. */
async function begin(
  deps: SignInMethodOperatorDeps,
  { http, answer }: Exchange,
  { providerId, purpose }: { providerId: OpenIdProviderId; purpose: OpenIdPurpose },
) {
  const { secretBox, openId, now } = deps;
  countTry(deps, http);
  const checks = newChecks();
  const address = await answering(http, () => authorizationAddress(openId, providerId, checks));
  if (address === undefined) throw notFound(`the settings of this service name no provider ${providerId}`);
  const value = { providerId, checks, purpose };
  answer.header("set-cookie", writeSealedCookie(secretBox, openIdFlow, { value, now: now() }));
  return { address };
}

/** The identity that the provider's answer proves, for the browser that asked, and what it asked for. */
async function finish(deps: SignInMethodOperatorDeps, { http, answer }: Exchange, query: string) {
  const { secretBox, openId, now } = deps;
  countTry(deps, http);
  const flow = readSealedCookie(secretBox, openIdFlow, { header: http.headers.cookie, now: now() })?.value;
  answer.header("set-cookie", endedSealedCookie(openIdFlow));
  if (flow === undefined) throw expired();
  const { providerId, checks, purpose } = flow;
  const proved = await answering(http, () => proveIdentity(openId, { providerId, checks, query }));
  return { purpose, identity: identityOf(http, proved) };
}

function passkeyHandlers(deps: SignInMethodOperatorDeps) {
  const { database, secretBox, publicUrl, now } = deps;

  const challengeOf = (http: FastifyRequest, personId: string | null) => {
    const found = readSealedCookie(secretBox, passkeyChallenge, { header: http.headers.cookie, now: now() });
    if (found === undefined || found.value.personId !== personId) return undefined;
    return { challenge: found.value.challenge, expiresAt: found.expiresAt };
  };
  const keepChallenge = (answer: Answer, challenge: string, personId: string | null) =>
    answer.header(
      "set-cookie",
      writeSealedCookie(secretBox, passkeyChallenge, { value: { challenge, personId }, now: now() }),
    );

  return {
    async startPasskeySignIn({ http }, answer) {
      countTry(deps, http);
      const options = await signInOptions(publicUrl);
      keepChallenge(answer, options.challenge, null);
      return { ...options };
    },

    async signInWithPasskey({ http, body: { credential } }, answer) {
      countTry(deps, http);
      const challenge = challengeOf(http, null);
      if (challenge === undefined) throw refusedPasskey();
      const signedIn = await signInWithPasskey(deps, {
        credential,
        ...challenge,
        browser: browserOf(http),
        author: authorOf(http),
        now: now(),
      });
      if (signedIn.outcome === "refused") throw refusedPasskey();
      answer.header("set-cookie", endedSealedCookie(passkeyChallenge));
      return answerSignIn(signedIn, answer);
    },

    async startAddingPasskey({ http }, answer) {
      const { person } = sessionOf(http);
      const options = await additionOptions(deps, person);
      keepChallenge(answer, options.challenge, person.personId);
      return { ...options };
    },

    async addPasskey({ http, body }, answer) {
      const { personId } = sessionOf(http).person;
      const challenge = challengeOf(http, personId);
      if (challenge === undefined)
        throw conflict("PASSKEY_TOO_LATE", "the challenge has expired: add the passkey again");
      const added = await addPasskey(deps, { ...body, ...challenge, personId, author: authorOf(http), now: now() });
      if (added.outcome === "too-many") throw tooMany();
      if (added.outcome === "refused")
        throw conflict("PASSKEY_NOT_ADDED", `the passkey is not accepted: ${added.detail}`);
      answer.header("set-cookie", endedSealedCookie(passkeyChallenge));
      return added.passkey;
    },

    async renamePasskey({ http, params: { passkeyId }, body: { name } }) {
      const { personId } = sessionOf(http).person;
      const renamed = await renamePasskey(database, { personId, passkeyId, name, author: authorOf(http) });
      if (renamed === undefined) throw notFound(`you have no passkey ${passkeyId}`);
      return renamed;
    },

    async removePasskey({ http, params: { passkeyId } }) {
      const { personId } = sessionOf(http).person;
      const of = { personId, id: { passkeyId }, author: authorOf(http) };
      return removed(await removeSignInMethod(database, of), "passkey");
    },
  } satisfies Partial<Handlers>;
}

function methodHandlers({ database, openId }: SignInMethodOperatorDeps) {
  return {
    async listSignInMethods({ http }) {
      const { identities, ...methods } = await readSignInMethods(database, sessionOf(http).person.personId);
      return {
        ...methods,
        identities: identities.map((one) => listed(openId, one)),
        providers: providersOf(openId),
      };
    },
  } satisfies Partial<Handlers>;
}

function providersOf({ byId }: OpenIdProviders) {
  return [...byId.values()].map(({ providerId, name }) => ({ providerId, name }));
}

function listed({ byId }: OpenIdProviders, { issuer, ...identity }: StoredIdentity) {
  const provider = [...byId.values()].find((one) => one.issuer === issuer)?.name ?? issuer;
  return { ...identity, provider };
}

/** All attempts of an address count together, whatever the way of signing in. */
function countTry({ signIns, now }: SignInMethodOperatorDeps, http: FastifyRequest): void {
  const tooManyTries = waitOfAddress(signIns, { address: http.ip, count: countingFor(http), now: now() });
  if (tooManyTries !== undefined) throw slowDown(tooManyTries.waitSeconds);
}

/** The provider's fault is the operator's to fix: logged, and told to the person without details. */
async function answering<Result>({ log }: FastifyRequest, ask: () => Promise<Result>): Promise<Result> {
  return ask().catch((error: unknown) => {
    if (!(error instanceof ProviderFault)) throw error;
    log.error(
      { err: error },
      "signing in by an OpenID provider failed: check the issuer, the client id and the secret",
    );
    throw refusal(503, "PROVIDER_UNAVAILABLE", "the provider does not answer: try again, or sign in another way");
  });
}

function identityOf({ log }: FastifyRequest, proved: Awaited<ReturnType<typeof proveIdentity>>): ProvedIdentity {
  switch (proved.outcome) {
    case "proved":
      return proved.identity;
    case "cancelled":
      throw refusal(403, "SIGN_IN_CANCELLED", "signing in was cancelled at the provider");
    case "expired":
      throw expired();
    case "refused":
      log.warn({ reason: proved.detail }, "the answer of an OpenID provider was refused");
      throw refusal(403, "PROVIDER_REFUSED", "the provider's answer is not valid: begin again");
    default:
      throw proved satisfies never;
  }
}

function removed(decision: RemovalDecision, kind: "passkey" | "linked account"): { removed: number } {
  switch (decision) {
    case "remove":
      return { removed: 1 };
    case "unknown":
      throw notFound(`you have no such ${kind}`);
    case "last":
      throw conflict("LAST_SIGN_IN_METHOD", `a ${kind} that is your only way to sign in stays: add another way first`);
    default:
      throw decision satisfies never;
  }
}

function expired(): HttpError {
  return refusal(403, "SIGN_IN_EXPIRED", "signing in began in another window, or too long ago: begin again");
}

function notLinked(): HttpError {
  return refusal(
    403,
    "NOT_LINKED",
    "nobody here has linked this account: open your invitation and continue with it there, or sign in another way and link it",
  );
}

function linkedAlready(): HttpError {
  return conflict(
    "LINKED_ALREADY",
    "this account is linked with a person already: unlink it there, or use another one",
  );
}

function tooMany(): HttpError {
  return conflict("TOO_MANY_METHODS", "there are too many of them: remove one that is not used");
}

function refusedPasskey(): HttpError {
  return refusal(401, "PASSKEY_REFUSED", "this passkey is not accepted: try again, or sign in another way");
}
