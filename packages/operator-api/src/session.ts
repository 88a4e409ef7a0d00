import { z } from "zod";
import { roles } from "./access.ts";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

export const signInMethods = ["password", "passkey", "openid"] as const;

export const person = z.object({
  personId: z.string(),
  email: z.string(),
  role: z.enum(roles),
  advertiserId: z.string().nullable(),
  advertiser: z.string().nullable().describe("Whose campaigns the person sees; only of the role `advertiser`."),
  botIds: z.array(z.string()).describe("Which bots the person sees; only of the role `publisher`."),
  isDisabled: z.boolean(),
  signInMethods: z
    .array(z.enum(signInMethods))
    .describe("How the person may sign in; none before the invitation was accepted."),
  isSignedIn: z.boolean().describe("Has a session, such as one that a sign-in link has begun."),
  createdAt: moment,
  updatedAt: moment.describe("Of the last change of the role."),
});
export type Person = z.output<typeof person>;

export const session = z.object({
  person,
  expiresAt: moment,
  routes: z
    .array(z.string())
    .describe("Names of the operations that the person's role may use at all; the server decides on which objects."),
});
export const currentSession = session.extend({
  person: person.describe("Whose rights requests have."),
  seenBy: z
    .object({ email: z.string(), until: moment })
    .nullable()
    .describe("Who sees the console as this person, until when, and may only read; null: the person is signed in."),
});
export type CurrentSession = z.output<typeof currentSession>;

/** What the frame around every screen of the console uses. */
export const sessionRoutes = {
  showSession: {
    method: "GET",
    path: "/session",
    access: "signed-in",
    description: "Returns the person who is signed in, or whom the one who is signed in sees the console as.",
    answer: currentSession,
  },
  signOut: {
    method: "DELETE",
    path: "/session",
    access: "signed-in",
    changes: "person",
    description: "Ends the session.",
    answer: z.object({ ended: z.int() }),
  },
  signOutEverywhere: {
    method: "DELETE",
    path: "/sessions",
    access: "signed-in",
    changes: "person",
    description: "Ends all sessions of the person who is signed in.",
    answer: z.object({ ended: z.int() }),
  },
  endImpersonation: {
    method: "DELETE",
    path: "/session/impersonation",
    access: "signed-in",
    changes: "person",
    description: "The session is its own person's again.",
    answer: currentSession,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
