import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants, roles } from "./access.ts";
import { fieldFault, forms } from "./field-forms.ts";
import { after, boundedText, expectedUpdatedAt, find, moment, next, sortBy, total, wholeList } from "./fields.ts";
import { formKinds } from "./form-kinds.ts";
import { readDigits } from "./read-digits.ts";
import type { OperatorRoutes } from "./route.ts";
import { currentSession, person, session } from "./session.ts";

export const email = z
  .email("must be an e-mail address such as ann@example.com")
  .max(254)
  .transform((text) => text.toLowerCase())
  .register(formKinds, { kind: "email" });
export const token = z.string().regex(forms.TOKEN, "must be the token of an invitation's link");
export const newPassword = z
  .string()
  .min(12, "must have at least 12 characters")
  .max(256, "must have at most 256 characters")
  .describe("At least 12 characters.");
export const totpCode = z
  .string()
  .overwrite(readDigits)
  .regex(forms.TOTP_CODE, "must be the six digits that the authenticator app shows")
  .describe("Of the authenticator app (TOTP).");
const signInCode = z
  .string()
  .overwrite((text) => readDigits(text).toLowerCase())
  .regex(forms.SIGN_IN_CODE, "must be the six digits that the authenticator app shows, or a recovery code")
  .describe("Of the authenticator app (TOTP), or a recovery code.");

const reach = z.strictObject({
  role: z.enum(roles),
  advertiser: boundedText(128).optional(),
  botIds: z.array(telegramId).min(1).max(100).register(formKinds, { kind: "bots" }).optional(),
});

/** Refuses what a role needs and is absent, and what it may not have. */
function requireOwnObjects(
  { role, advertiser, botIds }: z.output<typeof reach>,
  context: {
    addIssue(issue: { code: "custom"; path: string[]; message: string; params: Record<string, unknown> }): void;
  },
): void {
  const isNeeded = { advertiser: role === "advertiser", botIds: role === "publisher" };
  const faultOf = (field: "advertiser" | "botIds", value: unknown) => {
    if (isNeeded[field] === (value !== undefined)) return;
    const message = isNeeded[field] ? `is needed for the role ${role}` : `must not be set for the role ${role}`;
    const params = isNeeded[field] ? fieldFault("ROLE_NEEDS", { role }) : fieldFault("NOT_FOR_ROLE", { role });
    context.addIssue({ code: "custom", path: [field], message, params });
  };
  faultOf("advertiser", advertiser);
  faultOf("botIds", botIds);
}

const invitation = reach
  .extend({ email })
  .superRefine(requireOwnObjects)
  .meta({ examples: [{ email: "ann@example.com", role: "ad-ops" }] });

const madeLink = z.object({
  person,
  link: z.string().describe("Opens the invitation once. Shown only here."),
  expiresAt: moment,
});
const invited = madeLink.extend({
  isMailed: z.boolean().describe("Whether the mail server has taken the link; without one it is for you to pass on."),
});
const params = z.object({ personId: z.string().max(64) });
export const exampleToken = "Zm9yIGFuIGV4YW1wbGUsIG5vdCBhIHJlYWwgdG9rZW4";

/** Sort keys of the list of people. `sees`: the advertiser's name, or the bots' ids. */
export const personSorts = ["email", "role", "sees"] as const;
export type PersonSort = (typeof personSorts)[number];

export const peopleRoutes = {
  signIn: {
    method: "POST",
    path: "/session",
    access: "anyone",
    changes: "person",
    description: "Signs a person in, and sets the session's cookie. Earlier sessions of the browser end.",
    body: z
      .strictObject({ email, password: z.string().min(1).max(256), code: signInCode })
      .meta({ examples: [{ email: "ann@example.com", password: "correct horse battery", code: "123456" }] }),
    answer: session,
  },
  openSignInLink: {
    method: "POST",
    path: "/session/link",
    access: "anyone",
    changes: "person",
    description: "Signs in with a link that the command line made. It works once, within an hour.",
    body: z.strictObject({ token }).meta({ examples: [{ token: exampleToken }] }),
    answer: session,
  },
  openInvitation: {
    method: "POST",
    path: "/invitations/open",
    access: "anyone",
    changes: null,
    description: "Returns who is invited, and the secret for the authenticator app. It changes nothing.",
    body: z.strictObject({ token }).meta({ examples: [{ token: exampleToken }] }),
    answer: z.object({ email: z.string(), role: z.enum(roles), totpSecret: z.string(), totpUri: z.string() }),
  },
  acceptInvitation: {
    method: "POST",
    path: "/invitations/accept",
    access: "anyone",
    changes: "person",
    description: "Sets the password, and signs in. The invitation is used up.",
    body: z
      .strictObject({ token, password: newPassword, code: totpCode })
      .meta({ examples: [{ token: exampleToken, password: "correct horse battery", code: "123456" }] }),
    answer: session,
  },
  startImpersonation: {
    method: "POST",
    path: "/people/:personId/impersonation",
    access: grants.staff,
    changes: "person",
    description:
      "From now on the session sees what this person sees, for 30 minutes, and changes nothing. Never a person who reaches further.",
    params,
    answer: currentSession,
    refusals: [409],
  },
  listPeople: {
    method: "GET",
    path: "/people",
    // Ad operations choose whom they see the console as.
    access: grants.staff,
    description: "Lists the people who may sign in.",
    query: z.object({
      after,
      limit: wholeList.limit,
      role: z.enum(roles).optional(),
      find: find("the e-mail address, the role, the advertiser's name or the bots' ids"),
      sort: sortBy(personSorts),
    }),
    answer: z.object({ people: z.array(person).describe("By e-mail address, without another order."), next, total }),
  },
  invitePerson: {
    method: "POST",
    path: "/people",
    access: grants.owner,
    changes: "person",
    description: "Adds a person, and returns the link of the invitation.",
    body: invitation,
    status: 201,
    answer: invited,
    refusals: [409],
  },
  createSignInLink: {
    method: "POST",
    path: "/people/sign-in-links",
    access: grants.commandLine,
    changes: "person",
    description:
      "Makes a link that signs a person in once, within an hour. An earlier one is void. For the command line alone.",
    body: z.strictObject({ email }).meta({ examples: [{ email: "ann@example.com" }] }),
    status: 201,
    answer: madeLink,
  },
  renewInvitation: {
    method: "POST",
    path: "/people/:personId/invitation",
    access: grants.owner,
    changes: "person",
    description:
      "Invites a person anew: the password, the authenticator's secret, passkeys, linked accounts and all sessions end.",
    params,
    status: 201,
    answer: invited,
  },
  changeRole: {
    method: "PUT",
    path: "/people/:personId/role",
    access: grants.owner,
    changes: "person",
    description: "Changes a person's role, and whose objects the person sees. The person's sessions end.",
    params,
    query: z.object({ expectedUpdatedAt }),
    body: reach.superRefine(requireOwnObjects).meta({ examples: [{ role: "analyst" }] }),
    answer: person,
    refusals: [409],
  },
  changeEmail: {
    method: "PUT",
    path: "/people/:personId/email",
    access: grants.owner,
    changes: "person",
    description:
      "Changes a person's e-mail address, without a confirmation. The person's sessions and an open invitation end.",
    params,
    query: z.object({ expectedUpdatedAt }),
    body: z.strictObject({ email }).meta({ examples: [{ email: "ann@example.org" }] }),
    answer: person,
    refusals: [409],
  },
  disablePerson: {
    method: "POST",
    path: "/people/:personId/disable",
    access: grants.owner,
    changes: "person",
    description: "Ends a person's sessions and refuses further ones.",
    params,
    answer: person,
    refusals: [409],
  },
  enablePerson: {
    method: "POST",
    path: "/people/:personId/enable",
    access: grants.owner,
    changes: "person",
    description: "Lets a disabled person sign in again.",
    params,
    answer: person,
  },
} as const satisfies OperatorRoutes;
