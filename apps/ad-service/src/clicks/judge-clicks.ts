import type { Transaction } from "@intermission/postgres/open-database";
import type { MadeEvents } from "../deliveries/deliveries.ts";
import { type ClickVerdict, leadsToAd, refusalOf } from "./click-verdict.ts";
import { type Click, type ClickFacts, type ClickSettings, isFirstOfDay, judgeClick, minuteOf } from "./judge-click.ts";
import { readClickFacts } from "./read-click-facts.ts";
import { type JudgedClick, recordClicks } from "./record-clicks.ts";

/** What became of a visit, and whose it is; null: of an unknown code. */
export interface FollowedClick {
  readonly verdict: ClickVerdict;
  readonly userId: string | null;
}

/**
 * Follows the links of visits, no two of one address: reads the facts, judges each visit, and writes what was decided. What
 * has changed between reading and writing is `again`, and so are further visits of a viewer in one batch.
 */
export async function judgeClicks(
  database: Transaction,
  clicks: readonly Click[],
  { slots, ...settings }: ClickSettings & { slots: number },
): Promise<MadeEvents<FollowedClick[]>> {
  const facts = await readClickFacts(database, clicks);
  const judged = judgeInOrder(clicks, facts, settings);
  const toRecord = judged.filter(({ verdict }) => leadsToAd(verdict) || refusalOf(verdict) !== undefined);
  const recorded = toRecord.length === 0 ? nothing : await recordClicks(database, toRecord, { slots });
  const written = new Set(toRecord.filter((_, position) => recorded.result.has(position)));
  const result = judged.map((one): FollowedClick => {
    const { verdict, facts } = one;
    return { verdict: leadsToAd(verdict) && !written.has(one) ? again : verdict, userId: facts.userId };
  });
  return { ...recorded, result };
}

const again: ClickVerdict = { outcome: "again" };
const nothing: MadeEvents<ReadonlySet<number>> = { result: new Set(), areWaiting: false, claimed: [] };

function judgeInOrder(clicks: readonly Click[], facts: readonly ClickFacts[], settings: ClickSettings): JudgedClick[] {
  const viewers = new Set<string>();
  const usersOfNetworks = new Map<string, number>();
  return clicks.map((click, position) => {
    const known = facts[position];
    if (known === undefined) throw new Error("the database returned nothing about a visit");
    const { request, hashes, now } = click.visit;
    const network = `${request.bot.botId} ${hashes.network}`;
    const added = usersOfNetworks.get(network) ?? 0;
    const counted = added === 0 ? known : withUsers(known, added, now);
    const verdict = judgeClick(counted, click, settings, now);
    if (!leadsToAd(verdict)) return { click, facts: known, verdict };
    const viewer = `${request.bot.botId} ${known.userId}`;
    if (viewers.has(viewer)) return { click, facts: known, verdict: again };
    viewers.add(viewer);
    if (isFirstOfDay(known, now) && !verdict.isTest) usersOfNetworks.set(network, added + 1);
    return { click, facts: known, verdict };
  });
}

/** The facts with users of the same network that were counted earlier in this batch. */
function withUsers(facts: ClickFacts, added: number, now: Date): ClickFacts {
  const { users, minute, minuteUsers } = facts.network;
  const current = minuteOf(now);
  const isThisMinute = minute !== null && minute.getTime() >= current.getTime();
  const network = { users: users + added, minute: current, minuteUsers: (isThisMinute ? minuteUsers : 0) + added };
  return { ...facts, network };
}
