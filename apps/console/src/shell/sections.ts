import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import type { IconName } from "../ui/icon.tsx";
import type { shellWords } from "./words.ts";

interface Section {
  to: string;
  /** Its name in `words.ts`. */
  word: keyof (typeof shellWords)["en"];
  icon: IconName;
  /** Shown to the roles that may use this route, also where the console is seen only to read. */
  needs: OperatorRouteName;
  /** `g` and this letter lead to it. */
  letter: string;
}

/** The sections of the console, in the order of the menu. A screen's address is in `routes.tsx`. */
export const sections = [
  { to: "/", word: "overview", icon: "overview", needs: "showSession", letter: "o" },
  { to: "/campaigns", word: "campaigns", icon: "campaign", needs: "listCampaigns", letter: "c" },
  { to: "/bots", word: "bots", icon: "bot", needs: "showBot", letter: "b" },
  { to: "/explain", word: "explain", icon: "explain", needs: "explainChoice", letter: "e" },
  { to: "/creatives", word: "creatives", icon: "creative", needs: "listCreatives", letter: "m" },
  { to: "/approval", word: "creativeQueue", icon: "check", needs: "approveCreative", letter: "q" },
  { to: "/advertisers", word: "advertisers", icon: "advertiser", needs: "showAdvertiserMoney", letter: "a" },
  { to: "/payouts", word: "payouts", icon: "payout", needs: "listPublisherMoney", letter: "y" },
  { to: "/timeline", word: "timeline", icon: "timeline", needs: "findTimelines", letter: "t" },
  { to: "/reviews", word: "reviews", icon: "review", needs: "listViews", letter: "v" },
  { to: "/conversions", word: "conversions", icon: "conversion", needs: "listConversions", letter: "n" },
  { to: "/publisher", word: "publisher", icon: "publisher", needs: "readEarnings", letter: "h" },
  { to: "/reports", word: "reports", icon: "report", needs: "readStats", letter: "r" },
  { to: "/people", word: "people", icon: "people", needs: "listPeople", letter: "p" },
  { to: "/audit", word: "audit", icon: "audit", needs: "listAuditEntries", letter: "u" },
  { to: "/system", word: "system", icon: "system", needs: "showStatus", letter: "s" },
] as const satisfies readonly Section[];

/** Screens that are there to change something. */
const ofChanges: readonly Pick<Section, "to" | "needs">[] = [
  { to: "/campaigns/new", needs: "addCampaign" },
  { to: "/bots/new", needs: "addBot" },
  { to: "/creatives/vast", needs: "tryVastTag" },
  { to: "/account", needs: "addPasskey" },
];

/** The routes without which the screen at an address is not for a person: that of its section, and that of its change. */
export function neededFor(path: string): {
  section: OperatorRouteName | undefined;
  change: OperatorRouteName | undefined;
} {
  const isWithin = ({ to }: Pick<Section, "to">) => to !== "/" && (path === to || path.startsWith(`${to}/`));
  return { section: sections.find(isWithin)?.needs, change: ofChanges.find(isWithin)?.needs };
}
