// In a file of its own: the router's type, which publishers install, names it and must not reach Node's or a store's types.
export type SignInOutcome =
  | { outcome: "signed-in"; sessionToken: string; expiresAt: string; user: { id: string } }
  | { outcome: "refused"; reason: "invalid" | "expired" };
