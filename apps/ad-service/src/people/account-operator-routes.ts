import { accountRoutes } from "@intermission/operator-api/account";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { countingFor } from "@intermission/server/counted-calls";
import type { HttpError } from "@intermission/server/http-server";
import { slowDown } from "@intermission/server/rate-limiter";
import { conflict, invalidField, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { changePassword, createRecoveryCodes, endOwnSession, listOwnSessions } from "./account.ts";
import { sessionOf } from "./guard.ts";
import { busy, type PeopleOperatorDeps } from "./operator-routes.ts";
import { endedCookie } from "./sessions.ts";

/** People and their own accounts. */
export function accountOperatorRoutes(scope: CheckedScope, deps: Omit<PeopleOperatorDeps, "sendLink">): void {
  const { database, signIns, now } = deps;
  serveOperatorRoutes(scope, accountRoutes, {
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
          throw invalidField(
            "currentPassword",
            "is wrong, or the code is not the one that the authenticator app shows now",
            fieldFault("PASSWORD_OR_CODE_WRONG"),
          );
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
  });
}

function withoutPassword(): HttpError {
  return conflict("NO_PASSWORD", "you have no password: an owner can invite you anew, so that you can set one");
}
