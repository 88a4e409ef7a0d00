import { z } from "zod";
import { moment } from "./fields.ts";
import { newPassword, totpCode } from "./people.ts";
import type { OperatorRoutes } from "./route.ts";

const ownSession = z.object({
  sessionId: z.string(),
  isCurrent: z.boolean().describe("The session of this request."),
  browser: z.string().describe("As the browser named itself: `Firefox, Windows`. Empty: it did not."),
  signedInAt: moment,
  lastUsedAt: moment.describe("To within five minutes."),
  expiresAt: moment.describe("At the latest; a day without use ends a session, too."),
});
export type OwnSession = z.output<typeof ownSession>;

/** What people do with their own accounts. */
export const accountRoutes = {
  listOwnSessions: {
    method: "GET",
    path: "/sessions",
    access: "signed-in",
    description: "Lists the sessions of the person who is signed in, the one that was used last first.",
    answer: z.object({ sessions: z.array(ownSession) }),
  },
  endOwnSession: {
    method: "DELETE",
    path: "/sessions/:sessionId",
    access: "signed-in",
    changes: "person",
    description: "Ends one session of the person who is signed in.",
    params: z.object({ sessionId: z.string().max(64) }),
    answer: z.object({ ended: z.int() }),
  },
  changePassword: {
    method: "PUT",
    path: "/account/password",
    access: "signed-in",
    changes: "person",
    description:
      "Changes the own password. All other sessions end, and links that would open one. The authenticator app stays as it is.",
    body: z.strictObject({ currentPassword: z.string().min(1).max(256), code: totpCode, password: newPassword }).meta({
      examples: [{ currentPassword: "correct horse battery", code: "123456", password: "staple battery horse" }],
    }),
    answer: z.object({ ended: z.int().describe("How many other sessions there were.") }),
    refusals: [409],
  },
  createRecoveryCodes: {
    method: "POST",
    path: "/account/recovery-codes",
    access: "freshly-signed-in",
    changes: "person",
    description:
      "Makes ten recovery codes: each signs in once with the password, in place of a code of the authenticator app. Earlier ones are void.",
    status: 201,
    answer: z.object({ codes: z.array(z.string()).describe("Shown only here.") }),
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
