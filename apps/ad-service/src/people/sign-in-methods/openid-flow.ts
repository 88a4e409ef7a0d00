import { type OpenIdProviderId, openIdProviderIds } from "@intermission/operator-api/sign-in-methods";
import { z } from "zod";
import type { AuthorizationChecks } from "./openid-providers.ts";
import type { SealedCookie } from "./sealed-cookie.ts";

/** What the browser asked the provider for: an answer serves nothing else. */
export type OpenIdPurpose =
  | { kind: "sign-in" }
  | { kind: "invitation"; token: string }
  | { kind: "link"; personId: string };

/** Time to sign in at the provider. */
const FLOW_SECONDS = 10 * 60;

/** Kept by the browser that asked and compared with the provider's answer, which is useless in another browser. */
export const openIdFlow: SealedCookie<{
  providerId: OpenIdProviderId;
  checks: AuthorizationChecks;
  purpose: OpenIdPurpose;
}> = {
  name: "__Host-openid",
  seconds: FLOW_SECONDS,
  schema: z.strictObject({
    providerId: z.enum(openIdProviderIds),
    checks: z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() }),
    purpose: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("sign-in") }),
      z.strictObject({ kind: z.literal("invitation"), token: z.string() }),
      z.strictObject({ kind: z.literal("link"), personId: z.string() }),
    ]),
  }),
};
