import type { Role } from "@intermission/operator-api/people";

/** Whether a role may see the console as a person of another: never as one that reaches further. */
export function mayImpersonate(role: Role, seen: Role): boolean {
  switch (role) {
    case "owner":
      return true;
    case "ad-ops":
      return seen !== "owner";
    case "finance":
    case "analyst":
    case "advertiser":
    case "publisher":
      return false;
    default:
      return role satisfies never;
  }
}
