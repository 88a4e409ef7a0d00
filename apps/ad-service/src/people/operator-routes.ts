import { fieldFault } from "@intermission/operator-api/field-forms";
import { routesOf } from "@intermission/operator-api/operator-routes";
import { peopleRoutes } from "@intermission/operator-api/people";
import { type Person, sessionRoutes } from "@intermission/operator-api/session";
import type { Author } from "@intermission/postgres/audit";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { countingFor } from "@intermission/server/counted-calls";
import type { HttpError } from "@intermission/server/http-server";
import { slowDown } from "@intermission/server/rate-limiter";
import { conflict, invalidField, notFound, refusal } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import { type OperatorHandlers, serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import { requireBots } from "../bots/bots.ts";
import { consoleAddress } from "./console-address.ts";
import { operatorOf, sessionOf } from "./guard.ts";
import type { ChangingSession } from "./hold-accounts.ts";
import { endImpersonation, startImpersonation } from "./impersonation.ts";
import { listPeople } from "./list-people.ts";
import { mailChangedEmail } from "./mail-email-change.ts";
import { mailLink, type SendLink } from "./mail-link.ts";
import { TooManyHashes } from "./password.ts";
import {
  changeEmail,
  changeRole,
  createSignInLink,
  disablePerson,
  enablePerson,
  findPerson,
  invitePerson,
  newPersonId,
  renewInvitation,
  signOutEverywhere,
  unknownPerson,
} from "./people.ts";
import { answerSignIn, browserOf, endedCookie, endSession, type Session } from "./sessions.ts";
import {
  acceptInvitation,
  openInvitation,
  openSignInLink,
  type SignInOutcome,
  type SignIns,
  signIn,
} from "./sign-in.ts";
import { totpUri } from "./totp.ts";

export interface PeopleOperatorDeps {
  database: Database;
  secretBox: SecretBox;
  /** Base address of the ad service, with which the links of invitations begin. */
  publicUrl: string;
  /** The attempts that this node remembers; all ways to sign in count together. */
  signIns: SignIns;
  /** Undefined: no mail server is set. */
  sendLink: SendLink;
  now: () => Date;
}

/** People, their invitations and their sessions. */
export function peopleOperatorRoutes(scope: CheckedScope, deps: PeopleOperatorDeps): void {
  serveOperatorRoutes(
    scope,
    { ...sessionRoutes, ...peopleRoutes },
    {
      ...sessionsAndInvitations(deps),
      ...impersonations(deps),
      ...accounts(deps),
      ...addresses(deps),
    },
  );
}

type Handlers = OperatorHandlers<typeof sessionRoutes & typeof peopleRoutes>;

/** What people do themselves: sign in and out, and accept their invitations. */
function sessionsAndInvitations(deps: PeopleOperatorDeps) {
  const { database, signIns, now } = deps;
  const caller = ({ http }: { http: FastifyRequest }) => ({
    address: http.ip,
    browser: browserOf(http),
    count: countingFor(http),
    now: now(),
  });
  const signingIn = (request: { http: FastifyRequest }) => ({ ...caller(request), author: authorOf(request.http) });

  return {
    signIn: async (request, answer) =>
      signedIn(await busy(signIn(signIns, { ...request.body, ...signingIn(request) })), answer),

    async openSignInLink(request, answer) {
      const opened = await openSignInLink(signIns, { ...request.body, ...signingIn(request) });
      if (opened.outcome === "refused") {
        throw notFound("this link was used or has expired; make another one with: people sign-in-link");
      }
      return signedIn(opened, answer);
    },

    async showSession({ http }) {
      return currentSession(sessionOf(http));
    },

    async signOut({ http }, answer) {
      const session = sessionOf(http);
      answer.header("set-cookie", endedCookie);
      return { ended: await endSession(database, { ...session, author: authorOf(http) }) };
    },

    async signOutEverywhere({ http }, answer) {
      const { personId } = sessionOf(http).person;
      answer.header("set-cookie", endedCookie);
      return { ended: await signOutEverywhere(database, { personId, author: authorOf(http) }) };
    },

    async openInvitation(request) {
      const opened = await openInvitation(signIns, { ...request.body, ...caller(request) });
      if (opened.outcome === "too-many-tries") throw slowDown(opened.waitSeconds);
      if (opened.outcome === "unknown-invitation") throw unknownInvitation();
      const { person, totpSecret } = opened;
      return { email: person.email, role: person.role, totpSecret, totpUri: totpUri(totpSecret, person.email) };
    },

    async acceptInvitation(request, answer) {
      const accepted = await busy(acceptInvitation(signIns, { ...request.body, ...signingIn(request) }));
      if (accepted.outcome === "unknown-invitation") throw unknownInvitation();
      if (accepted.outcome === "refused") {
        const message = "is not the one that the authenticator app shows now; is the clock right?";
        throw invalidField("code", message, fieldFault("TOTP_CODE_WRONG"));
      }
      return signedIn(accepted, answer);
    },
  } satisfies Partial<Handlers>;
}

/** Seeing the console as another person. */
function impersonations({ database, now }: PeopleOperatorDeps) {
  return {
    async startImpersonation({ http, params: { personId } }) {
      const session = sessionOf(http);
      refuseOwnAccount(http, personId, "see the console as yourself");
      const started = await startImpersonation(database, { session, personId, author: authorOf(http), now: now() });
      switch (started.outcome) {
        case "started":
          return currentSession({
            ...session,
            person: started.person,
            impersonation: { by: session.person, until: started.until },
          });
        case "unknown-person":
          throw unknownPerson(personId);
        case "disabled":
          throw conflict("PERSON_DISABLED", "this person may not sign in; enable the account first");
        case "out-of-reach":
          throw refusal(403, "FORBIDDEN", `the role ${session.person.role} may not see the console as an owner`);
        default:
          throw started satisfies never;
      }
    },

    async endImpersonation({ http }) {
      const session = sessionOf(http);
      const { impersonation } = session;
      if (impersonation === undefined) throw conflict("NOT_IMPERSONATING", "you see the console as yourself already");
      await endImpersonation(database, { session, author: authorOf(http) });
      return currentSession({ ...session, person: impersonation.by, impersonation: undefined });
    },
  } satisfies Partial<Handlers>;
}

function currentSession({ person, expiresAt, impersonation }: Session) {
  const seenBy = impersonation === undefined ? null : { email: impersonation.by.email, until: impersonation.until };
  return { person, expiresAt, routes: routesOf(person.role), seenBy };
}

/** What owners do with the accounts of others. */
function accounts(deps: PeopleOperatorDeps) {
  const { database, publicUrl, sendLink, now } = deps;
  const invited = async (
    { token, person, expiresAt }: { token: string; person: Person; expiresAt: Date },
    isReset: boolean,
    { log }: FastifyRequest,
  ) => {
    // In the fragment, so that it is in no server's log.
    const link = `${consoleAddress(publicUrl)}/invitation#${token}`;
    const isMailed = await mailLink(sendLink, { email: person.email, link, expiresAt, isReset }, log);
    return { person, link, expiresAt, isMailed };
  };

  return {
    async listPeople({ query }) {
      if (query.after !== undefined && !(await findPerson(database, query.after))) throw unknownPerson(query.after);
      const { rows: people, ...page } = await listPeople(database, query);
      return { people, ...page };
    },

    async invitePerson({ body: invitation, http }) {
      await requireBots(database, invitation.botIds ?? []);
      const personId = newPersonId();
      const made = await invitePerson(deps, { personId, invitation, author: authorOf(http), now: now() });
      if (made.outcome === "known-email") throw personExists();
      if (made.outcome === "unknown-advertiser") throw unknownAdvertiser();
      return invited(made, false, http);
    },

    async createSignInLink({ body: { email }, http }) {
      const made = await createSignInLink(database, { email, author: authorOf(http), now: now() });
      if (made === undefined) throw notFound(`nobody may sign in as ${email}; see all with: people list`);
      const { token, ...rest } = made;
      return { ...rest, link: `${consoleAddress(publicUrl)}/sign-in-link#${token}` };
    },

    async renewInvitation({ params: { personId }, http }) {
      const made = await renewInvitation(deps, { personId, ...changing(http), now: now() });
      if (made === undefined) throw unknownPerson(personId);
      return invited(made, made.isReset, http);
    },

    async changeRole({ params: { personId }, query, body, http }) {
      refuseOwnAccount(http, personId, "change your own role");
      await requireBots(database, body.botIds ?? []);
      const changed = await changeRole(database, { ...body, ...query, personId, ...changing(http), now: now() });
      if (changed.outcome === "unknown-advertiser") throw unknownAdvertiser();
      if (changed.outcome === "unknown-person") throw unknownPerson(personId);
      if (changed.outcome === "changed-since") throw personChanged();
      return changed.person;
    },

    async disablePerson({ params: { personId }, http }) {
      refuseOwnAccount(http, personId, "disable your own account");
      const person = await disablePerson(database, { personId, ...changing(http) });
      if (person === undefined) throw unknownPerson(personId);
      return person;
    },

    async enablePerson({ params: { personId }, http }) {
      const person = await enablePerson(database, { personId, ...changing(http) });
      if (person === undefined) throw unknownPerson(personId);
      return person;
    },
  } satisfies Partial<Handlers>;
}

function addresses({ database, sendLink, now }: PeopleOperatorDeps) {
  return {
    async changeEmail({ params: { personId }, query, body, http }) {
      refuseOwnAccount(http, personId, "change your own address without a confirmation");
      const change = { ...body, ...query, personId, ...changing(http), now: now() };
      const changed = await changeEmail(database, change);
      switch (changed.outcome) {
        case "changed":
          break;
        case "known-email":
          throw personExists();
        case "unknown-person":
          throw unknownPerson(personId);
        case "changed-since":
          throw personChanged();
        default:
          throw changed satisfies never;
      }
      const { person, formerEmail: oldEmail, language } = changed;
      const newEmail = person.email;
      if (newEmail !== oldEmail) await mailChangedEmail(sendLink, { oldEmail, newEmail, language, log: http.log });
      return person;
    },
  } satisfies Partial<Handlers>;
}

function changing(http: FastifyRequest): { by: ChangingSession; author: Author } {
  const operator = operatorOf(http);
  return { by: operator.kind === "person" ? operator.session.tokenHash : undefined, author: authorOf(http) };
}

/** So that an owner remains. */
function refuseOwnAccount(http: FastifyRequest, personId: string, change: string): void {
  const operator = operatorOf(http);
  if (operator.kind === "person" && operator.session.person.personId === personId) {
    throw conflict("OWN_ACCOUNT", `you cannot ${change}: another owner can, or the command line`);
  }
}

function personChanged(): HttpError {
  return conflict("PERSON_CHANGED", "this person was changed since they were read: read them again");
}

export function personExists(): HttpError {
  return conflict("PERSON_EXISTS", "a person with this e-mail address exists; see all with: people list");
}

function unknownAdvertiser(): HttpError {
  const message = "is not known: it exists from its first campaign on, or is added before it";
  return invalidField("advertiser", message, fieldFault("ADVERTISER_UNKNOWN"));
}

function signedIn(outcome: SignInOutcome, answer: Pick<FastifyReply, "header">) {
  if (outcome.outcome === "too-many-tries") throw slowDown(outcome.waitSeconds);
  if (outcome.outcome === "refused") {
    throw refusal(401, "NOT_SIGNED_IN", "the e-mail address, the password or the code is wrong");
  }
  return answerSignIn(outcome, answer);
}

/** Passwords are hashed by a few threads; a flood of them is turned away. */
export async function busy<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    throw error instanceof TooManyHashes ? slowDown(1) : error;
  });
}

function unknownInvitation(): HttpError {
  return refusal(404, "NOT_FOUND", "this invitation was used, has expired, or was replaced: ask for another one");
}
