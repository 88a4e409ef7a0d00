export type SignInOutcome =
  | { outcome: "signed-in"; sessionToken: string; expiresAt: string; user: { id: string } }
  | { outcome: "refused"; reason: "invalid" | "expired" };
