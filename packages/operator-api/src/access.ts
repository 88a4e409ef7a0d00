import type { ReportReader } from "./report-figures.ts";

export const roles = ["owner", "ad-ops", "finance", "analyst", "advertiser", "publisher"] as const;
export type Role = (typeof roles)[number];

/**
 * How far a role reaches on a route: `all` objects, or only requests about an own one: a bot (`botId`), an event of an own
 * bot (`eventId`), a campaign or a creative of the own advertiser (`campaignId`, `creativeId`), or the advertiser itself (`advertiser`).
 */
export type Grant = "all" | "own-bot" | "own-event" | "own-campaign" | "own-creative" | "own-advertiser";

/**
 * Who may use a route: a role without a grant is refused. `anyone` also signed out; `signed-in` every role; `freshly-signed-in`
 * every role within `FRESH_SIGN_IN_MINUTES` of signing in, since what it adds outlives the session; `of-a-person` every role for
 * what is the person's own, and the command line, which names the person.
 */
export type Access = "anyone" | "signed-in" | "freshly-signed-in" | "of-a-person" | { readonly [One in Role]?: Grant };

/** How long ago a person may have signed in who adds a way to sign in. */
export const FRESH_SIGN_IN_MINUTES = 10;

const owner = { owner: "all" } as const satisfies Access;
const staff = { ...owner, "ad-ops": "all" } as const satisfies Access;
const readers = { ...staff, analyst: "all" } as const satisfies Access;

/**
 * What the routes' `access` is made of. The command line and OPERATOR_TOKEN may use all routes. The reports of publishers and
 * advertisers leave out the money of the other side.
 */
export const grants = {
  owner,
  /** Without a role, for OPERATOR_TOKEN and the socket in the data folder. */
  commandLine: {},
  staff,
  readers,
  /** Who keeps the accounts of advertisers and publishers, and who reads them. */
  bookkeepers: { ...staff, finance: "all" },
  moneyReaders: { ...readers, finance: "all" },
  /** What every form with an amount says, and nobody needs to keep from anyone. */
  everyRole: { ...readers, finance: "all", advertiser: "all", publisher: "all" },
  ownBot: { publisher: "own-bot" },
  ownEvent: { publisher: "own-event" },
  ownCampaign: { advertiser: "own-campaign" },
  ownCreative: { advertiser: "own-creative" },
  ownAdvertiser: { advertiser: "own-advertiser" },
} as const satisfies Record<string, Access>;

/** A role that no grant names could do nothing. */
type GrantedRole = KeyOf<(typeof grants)[keyof typeof grants]>;
type KeyOf<Rule> = Rule extends unknown ? keyof Rule : never;

/** Whose money a report shows: an advertiser's people see what they pay, a publisher's what the bots earn, the staff both. */
export const readerOfRole = {
  owner: "staff",
  "ad-ops": "staff",
  finance: "staff",
  analyst: "staff",
  advertiser: "advertiser",
  publisher: "publisher",
} as const satisfies Record<GrantedRole, ReportReader>;

/** As a person of which roles a role may see the console: never of one that reaches further. */
export const rolesSeenBy: Readonly<Record<Role, readonly Role[]>> = {
  owner: roles,
  "ad-ops": /* @__PURE__ */ roles.filter((role) => role !== "owner"),
  finance: [],
  analyst: [],
  advertiser: [],
  publisher: [],
};

/**
 * Whether a route only reads: who sees the console as another person may use no other one. It is told by the name, so that
 * screens need no table of all routes; a test compares it with the methods.
 */
export function isReading(route: string): boolean {
  return /^(count|explain|export|find|list|read|show|sum)[A-Z]/.test(route);
}
