import { accountRoutes } from "@intermission/operator-api/account";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { countingFor } from "@intermission/server/counted-calls";
import type { HttpError } from "@intermission/server/http-server";
import { slowDown } from "@intermission/server/rate-limiter";
import { conflict, invalidField, notFound } from "@intermission/server/refuse";
import { type OperatorHandlers, serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { changePassword, createRecoveryCodes, endOwnSession, listOwnSessions } from "./account.ts";
import { consoleAddress } from "./console-address.ts";
import {
  confirmEmailChange,
  dropRequestedChange,
  type EmailChangeOutcome,
  findRequestedChange,
  requestEmailChange,
  undoEmailChange,
} from "./email-change.ts";
import { isFresh, sessionOf, signInAgain } from "./guard.ts";
import { mailEmailChange } from "./mail-email-change.ts";
import { busy, type PeopleOperatorDeps, personExists } from "./operator-routes.ts";
import { endedCookie } from "./sessions.ts";

/** People and their own accounts. */
export function accountOperatorRoutes(scope: CheckedScope, deps: PeopleOperatorDeps): void {
  serveOperatorRoutes(scope, accountRoutes, { ...sessionsAndSecrets(deps), ...ownAddress(deps) });
}

type Handlers = OperatorHandlers<typeof accountRoutes>;

function sessionsAndSecrets({ database, signIns, now }: PeopleOperatorDeps) {
  return {
    async listOwnSessions({ http }) {
      return { sessions: await listOwnSessions(database, { ...sessionOf(http), now: now() }) };
    },

    async endOwnSession({ http, params: { sessionId } }, answer) {
      const ended = await endOwnSession(database, { ...sessionOf(http), sessionId, author: authorOf(http) });
      if (ended === undefined) throw notFound("this session has ended already");
      if (ended.isCurrent) answer.header("set-cookie", endedCookie);
      return { ended: 1 };
    },

    async changePassword({ http, body }) {
      const { person, tokenHash } = sessionOf(http);
      const by = { address: http.ip, count: countingFor(http), author: authorOf(http), now: now() };
      const changed = await busy(changePassword(signIns, { person, tokenHash, ...body, ...by }));
      switch (changed.outcome) {
        case "changed":
          return { ended: changed.ended };
        case "no-password":
          throw withoutPassword();
        case "refused":
          throw wrongPassword();
        case "too-many-tries":
          throw slowDown(changed.waitSeconds);
        default:
          throw changed satisfies never;
      }
    },

    async createRecoveryCodes({ http }) {
      const { personId } = sessionOf(http).person;
      const codes = await createRecoveryCodes(database, { personId, author: authorOf(http) });
      if (codes === undefined) throw withoutPassword();
      return { codes };
    },
  } satisfies Partial<Handlers>;
}

function ownAddress({ database, signIns, publicUrl, sendLink, now }: PeopleOperatorDeps) {
  const linkOf = (http: FastifyRequest, token: string) => ({
    token,
    address: http.ip,
    count: countingFor(http),
    author: authorOf(http),
    now: now(),
  });
  return {
    async showOwnEmail({ http }) {
      const { personId, email } = sessionOf(http).person;
      const requested = await findRequestedChange(database, { personId, now: now() });
      return { email, canMail: sendLink !== undefined, requested };
    },

    async requestEmailChange({ http, body }) {
      if (sendLink === undefined)
        throw conflict(
          "NO_MAIL_SERVER",
          "no mail server is set, so nobody can confirm an address: an owner can change it",
        );
      const session = sessionOf(http);
      const by = { address: http.ip, count: countingFor(http), author: authorOf(http), now: now() };
      const request = { ...session, ...body, ...by, isFresh: isFresh(session, by.now) };
      const requested = await busy(requestEmailChange(signIns, request));
      switch (requested.outcome) {
        case "requested":
          break;
        case "same-address":
          throw invalidField("email", "is your address already", fieldFault("OTHER_EMAIL_NEEDED"));
        case "password-needed":
          throw invalidField("currentPassword", "is needed, and a code", fieldFault("MISSING"));
        case "not-fresh":
          throw signInAgain();
        case "refused":
          throw wrongPassword();
        case "too-many-tries":
          throw slowDown(requested.waitSeconds);
        default:
          throw requested satisfies never;
      }
      const { change } = requested;
      const isMailed = await mailEmailChange(sendLink, {
        consoleUrl: consoleAddress(publicUrl),
        change,
        log: http.log,
      });
      if (!isMailed) {
        await dropRequestedChange(database, change.token);
        throw conflict(
          "MAIL_NOT_SENT",
          "the mail server did not take the mails: try again later, or ask an owner to change the address",
        );
      }
      return { email: change.newEmail, expiresAt: change.expiresAt };
    },

    confirmEmailChange: async ({ http, body: { token } }) =>
      changedEmail(await confirmEmailChange(signIns, linkOf(http, token))),

    undoEmailChange: async ({ http, body: { token } }) =>
      changedEmail(await undoEmailChange(signIns, linkOf(http, token))),
  } satisfies Partial<Handlers>;
}

function changedEmail(changed: EmailChangeOutcome): { email: string } {
  switch (changed.outcome) {
    case "changed":
      return { email: changed.email };
    case "taken":
      throw personExists();
    case "unknown-link":
      throw notFound("this link was used, has expired, or was replaced by a later one");
    case "too-many-tries":
      throw slowDown(changed.waitSeconds);
    default:
      throw changed satisfies never;
  }
}

function wrongPassword(): HttpError {
  return invalidField(
    "currentPassword",
    "is wrong, or the code is not the one that the authenticator app shows now",
    fieldFault("PASSWORD_OR_CODE_WRONG"),
  );
}

function withoutPassword(): HttpError {
  return conflict("NO_PASSWORD", "you have no password: an owner can invite you anew, so that you can set one");
}
