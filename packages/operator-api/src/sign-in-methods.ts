import { z } from "zod";
import { boundedText, moment } from "./fields.ts";
import { token } from "./people.ts";
import type { OperatorRoutes } from "./route.ts";
import { session } from "./session.ts";

/** The OpenID providers that the settings may name: Telegram, and one other. */
export const openIdProviderIds = ["telegram", "openid"] as const;
export type OpenIdProviderId = (typeof openIdProviderIds)[number];

const providerId = z.enum(openIdProviderIds);
const provider = z.object({ providerId, name: z.string().describe("For the text of a button.") });

const redirect = z.object({
  address: z
    .string()
    .describe("Where the browser goes; the provider sends it back to `PUBLIC_URL` + `/console/openid`."),
});
const answerOfProvider = z
  .strictObject({
    query: z.string().max(8192).describe("The query of the address to which the provider sent the browser."),
  })
  .meta({ examples: [{ query: "code=an-example&state=an-example" }] });

const identity = z.object({
  identityId: z.string(),
  provider: z.string().describe("The provider's name; the issuer's address for one that the settings no longer name."),
  label: z.string().describe("What the provider calls the person: a user name, an e-mail address or a name."),
  createdAt: moment,
  lastUsedAt: moment.nullable(),
});
const passkey = z.object({
  passkeyId: z.string(),
  name: z.string(),
  createdAt: moment,
  lastUsedAt: moment.nullable(),
});
export type Passkey = z.output<typeof passkey>;

const bytes = z
  .string()
  .max(16_384)
  .regex(/^[\w-]*$/, "must be base64url");
/** What a browser's passkey API answers, as JSON (Web Authentication, `toJSON`). Fields that are not checked are left out. */
const credential = {
  id: bytes,
  rawId: bytes,
  type: z.literal("public-key"),
  clientExtensionResults: z.object({}),
};
const newCredential = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(32)).max(16).optional(),
  }),
});
const assertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes.optional(),
  }),
});
const exampleCredential = { id: "AAAA", rawId: "AAAA", type: "public-key", clientExtensionResults: {} } as const;
const passkeyName = boundedText(64).describe("By which the person tells the own passkeys apart.");
const params = z.object({ passkeyId: z.string().max(64) });

export const signInMethodRoutes = {
  listSignInProviders: {
    method: "GET",
    path: "/session/providers",
    access: "anyone",
    description: "Lists the OpenID providers by which people may sign in.",
    answer: z.object({ providers: z.array(provider) }),
  },
  startOpenIdSignIn: {
    method: "POST",
    path: "/session/openid",
    access: "anyone",
    changes: null,
    description:
      "Begins to sign in by an OpenID provider, or to accept an invitation by it. The browser keeps a cookie, without which the provider's answer is refused.",
    body: z.strictObject({ providerId, invitation: token.optional() }).meta({ examples: [{ providerId: "telegram" }] }),
    answer: redirect,
    refusals: [503],
  },
  finishOpenIdSignIn: {
    method: "POST",
    path: "/session/openid/answer",
    access: "anyone",
    changes: "person",
    description:
      "Signs in by the provider's answer. Only a person who has linked this account, or who is invited, may.",
    body: answerOfProvider,
    answer: session,
    refusals: [409, 503],
  },
  startPasskeySignIn: {
    method: "POST",
    path: "/session/passkey/challenges",
    access: "anyone",
    changes: null,
    description:
      "Returns what the browser's passkey API needs to sign in. Its challenge is used once, within five minutes.",
    answer: z.looseObject({ challenge: z.string() }),
  },
  signInWithPasskey: {
    method: "POST",
    path: "/session/passkey",
    access: "anyone",
    changes: "person",
    description: "Signs in by a passkey. The passkey says whose it is.",
    body: z.strictObject({ credential: assertion }).meta({
      examples: [
        {
          credential: {
            ...exampleCredential,
            response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" },
          },
        },
      ],
    }),
    answer: session,
  },
  listSignInMethods: {
    method: "GET",
    path: "/session/methods",
    access: "signed-in",
    description: "Lists the ways in which the person who is signed in may sign in.",
    answer: z.object({
      hasPassword: z.boolean(),
      recoveryCodes: z.int().describe("How many are left."),
      passkeys: z.array(passkey),
      identities: z.array(identity),
      providers: z.array(provider).describe("By which an account may be linked."),
    }),
  },
  startLinkingIdentity: {
    method: "POST",
    path: "/session/identities",
    access: "freshly-signed-in",
    changes: null,
    description: "Begins to link an account at an OpenID provider with the person who is signed in.",
    body: z.strictObject({ providerId }).meta({ examples: [{ providerId: "telegram" }] }),
    answer: redirect,
    refusals: [503],
  },
  linkIdentity: {
    method: "POST",
    path: "/session/identities/answer",
    access: "freshly-signed-in",
    changes: "person",
    description: "Links the account of the provider's answer: from then on it signs the person in.",
    body: answerOfProvider,
    status: 201,
    answer: identity,
    refusals: [409, 503],
  },
  unlinkIdentity: {
    method: "DELETE",
    path: "/session/identities/:identityId",
    access: "signed-in",
    changes: "person",
    description: "Removes a linked account. The last way to sign in is not removed.",
    params: z.object({ identityId: z.string().max(64) }),
    answer: z.object({ removed: z.int() }),
    refusals: [409],
  },
  startAddingPasskey: {
    method: "POST",
    path: "/session/passkeys/challenges",
    access: "freshly-signed-in",
    changes: null,
    description: "Returns what the browser's passkey API needs to make a passkey of the person who is signed in.",
    answer: z.looseObject({ challenge: z.string() }),
  },
  addPasskey: {
    method: "POST",
    path: "/session/passkeys",
    access: "freshly-signed-in",
    changes: "person",
    description: "Adds a passkey of the person who is signed in.",
    body: z.strictObject({ name: passkeyName, credential: newCredential }).meta({
      examples: [
        {
          name: "Phone",
          credential: { ...exampleCredential, response: { clientDataJSON: "AAAA", attestationObject: "AAAA" } },
        },
      ],
    }),
    status: 201,
    answer: passkey,
    refusals: [409],
  },
  renamePasskey: {
    method: "PATCH",
    path: "/session/passkeys/:passkeyId",
    access: "signed-in",
    changes: "person",
    description: "Names a passkey.",
    params,
    body: z.strictObject({ name: passkeyName }).meta({ examples: [{ name: "Phone" }] }),
    answer: passkey,
  },
  removePasskey: {
    method: "DELETE",
    path: "/session/passkeys/:passkeyId",
    access: "signed-in",
    changes: "person",
    description: "Removes a passkey. The last way to sign in is not removed.",
    params,
    answer: z.object({ removed: z.int() }),
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
