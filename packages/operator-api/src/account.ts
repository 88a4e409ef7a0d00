import { z } from "zod";
import { moment } from "./fields.ts";
import { email, exampleToken, newPassword, token, totpCode } from "./people.ts";
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

const openLink = z.strictObject({ token }).meta({ examples: [{ token: exampleToken }] });
const ownEmail = z.object({ email: z.string().describe("With which the person signs in from now on.") });
const currentPassword = z.string().min(1).max(256);

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
    body: z.strictObject({ currentPassword, code: totpCode, password: newPassword }).meta({
      examples: [{ currentPassword: "correct horse battery", code: "123456", password: "staple battery horse" }],
    }),
    answer: z.object({ ended: z.int().describe("How many other sessions there were.") }),
    refusals: [409],
  },
  showOwnEmail: {
    method: "GET",
    path: "/account/email",
    access: "signed-in",
    description: "Returns the own e-mail address, and the one that waits for its confirmation.",
    answer: z.object({
      email: z.string(),
      canMail: z.boolean().describe("Whether a mail server is set: without one, an owner changes the address."),
      requested: z.object({ email: z.string(), expiresAt: moment }).nullable(),
    }),
  },
  requestEmailChange: {
    method: "POST",
    path: "/account/email",
    access: "signed-in",
    changes: "person",
    description:
      "Mails a link to another address, which makes it the own one, and one to the present address, which refuses that or takes it back. An earlier link is void. A person without a password needs a recent sign-in instead of password and code.",
    body: z
      .strictObject({ email, currentPassword: currentPassword.optional(), code: totpCode.optional() })
      .meta({ examples: [{ email: "ann@example.org", currentPassword: "correct horse battery", code: "123456" }] }),
    status: 201,
    answer: z.object({ email: z.string(), expiresAt: moment.describe("Of the link to the new address.") }),
    refusals: [409],
  },
  confirmEmailChange: {
    method: "POST",
    path: "/email-changes/confirm",
    access: "anyone",
    changes: "person",
    description:
      "Changes a person's e-mail address by the link that was mailed to the new one, once. All sessions end but that of the request.",
    body: openLink,
    answer: ownEmail,
    refusals: [409],
  },
  undoEmailChange: {
    method: "POST",
    path: "/email-changes/undo",
    access: "anyone",
    changes: "person",
    description:
      "Refuses a change of an e-mail address, or takes it back, by the link that was mailed to the address before. All sessions end.",
    body: openLink,
    answer: ownEmail,
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
