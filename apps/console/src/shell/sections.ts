import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import type { IconName } from "../ui/icon.tsx";
import type { shellWords } from "./words.ts";

export const sectionGroups = ["home", "sell", "publish", "money", "operate"] as const;
type SectionGroup = (typeof sectionGroups)[number];

interface Section {
  to: string;
  /** What a person does there; `home` has no heading. */
  group: SectionGroup;
  /** Its name in `words.ts`. */
  word: keyof (typeof shellWords)["en"];
  icon: IconName;
  /** Shown to the roles that may use this route, also where the console is seen only to read. */
  needs: OperatorRouteName;
  /** `g` and this letter lead to it. */
  letter: string;
  /** Not shown in the bar at a phone's lower edge. */
  isInMenuOnly?: boolean;
}

/** The sections of the console, in the order of the menu. A screen's address is in `routes.tsx`. */
export const sections = [
  { group: "home", to: "/", word: "overview", icon: "overview", needs: "showSession", letter: "o" },
  { group: "sell", to: "/campaigns", word: "campaigns", icon: "campaign", needs: "listCampaigns", letter: "c" },
  { group: "sell", to: "/creatives", word: "creatives", icon: "creative", needs: "listCreatives", letter: "m" },
  { group: "sell", to: "/approval", word: "creativeQueue", icon: "check", needs: "approveCreative", letter: "q" },
  { group: "sell", to: "/buyers", word: "buyers", icon: "buyer", needs: "listBuyers", letter: "d" },
  { group: "sell", to: "/conversions", word: "conversions", icon: "conversion", needs: "listConversions", letter: "n" },
  { group: "sell", to: "/tasks", word: "tasks", icon: "task", needs: "listTasks", letter: "k", isInMenuOnly: true },
  { group: "publish", to: "/bots", word: "bots", icon: "bot", needs: "showBot", letter: "b" },
  { group: "publish", to: "/publisher", word: "publisher", icon: "publisher", needs: "readEarnings", letter: "h" },
  { group: "publish", to: "/explain", word: "explain", icon: "explain", needs: "explainChoice", letter: "e" },
  { group: "money", to: "/reports", word: "reports", icon: "report", needs: "readStats", letter: "r" },
  {
    group: "money",
    to: "/advertisers",
    word: "advertisers",
    icon: "advertiser",
    needs: "showAdvertiserMoney",
    letter: "a",
  },
  { group: "money", to: "/payouts", word: "payouts", icon: "payout", needs: "listPublisherMoney", letter: "y" },
  {
    group: "money",
    to: "/approvals",
    word: "approvals",
    icon: "check",
    needs: "listMoneyRequests",
    letter: "l",
    isInMenuOnly: true,
  },
  { group: "money", to: "/filings", word: "filings", icon: "audit", needs: "listFilings", letter: "f" },
  { group: "operate", to: "/reviews", word: "reviews", icon: "review", needs: "listViews", letter: "v" },
  { group: "operate", to: "/timeline", word: "timeline", icon: "timeline", needs: "findTimelines", letter: "t" },
  { group: "operate", to: "/people", word: "people", icon: "people", needs: "listPeople", letter: "p" },
  { group: "operate", to: "/audit", word: "audit", icon: "audit", needs: "listAuditEntries", letter: "u" },
  { group: "operate", to: "/system", word: "system", icon: "system", needs: "showStatus", letter: "s" },
] as const satisfies readonly Section[];

/** How many sections are one tap away on a phone; the menu has the others. */
const MAX_TABS = 4;

/** Of a person's sections, those at a phone's lower edge: the first of each group, then whatever comes first. */
export function tabsOf<Shown extends Pick<Section, "group" | "isInMenuOnly">>(sections: readonly Shown[]): Shown[] {
  const shown = sections.filter(({ isInMenuOnly }) => isInMenuOnly !== true);
  const isFirst = (one: Shown) => shown.find(({ group }) => group === one.group) === one;
  const chosen = [...shown.filter(isFirst), ...shown.filter((one) => !isFirst(one))].slice(0, MAX_TABS);
  return shown.filter((one) => chosen.includes(one));
}

/** Screens that are there to change something. */
const ofChanges: readonly Pick<Section, "to" | "needs">[] = [
  { to: "/campaigns/new", needs: "draftCampaign" },
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
