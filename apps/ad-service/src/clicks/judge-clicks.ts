import type { Transaction } from "@intermission/postgres/open-database";
import type { MadeEvents } from "../deliveries/enqueue-webhook.ts";
import { addsUser, type JudgedClick } from "./click-rows.ts";
import { type ClickVerdict, leadsToAd, refusalOf } from "./click-verdict.ts";
import { type Click, type ClickFacts, type ClickSettings, judgeClick } from "./judge-click.ts";
import { addUsers, type NetworkUsers, oneUser } from "./network-users.ts";
import { readClickFacts } from "./read-click-facts.ts";
import { recordClicks } from "./record-clicks.ts";

/** What became of a visit. */
export interface FollowedClick {
  readonly verdict: ClickVerdict;
  /** The code's; null if it is unknown. */
  readonly userId: string | null;
  /** Whether it added a user to its network. */
  readonly addsUser: boolean;
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
    if (leadsToAd(one.verdict) && !written.has(one))
      return { verdict: again, userId: one.facts.userId, addsUser: false };
    return { verdict: one.verdict, userId: one.facts.userId, addsUser: addsUser(one) };
  });
  return { ...recorded, result };
}

const again: ClickVerdict = { outcome: "again" };
const nothing: MadeEvents<ReadonlySet<number>> = { result: new Set(), areWaiting: false, claimed: [] };

function judgeInOrder(clicks: readonly Click[], facts: readonly ClickFacts[], settings: ClickSettings): JudgedClick[] {
  const viewers = new Set<string>();
  // Users that are not stored: those of this node, and those of earlier visits of this batch.
  const usersOfNetworks = new Map<string, NetworkUsers>();
  return clicks.map((click, position) => {
    const known = facts[position];
    if (known === undefined) throw new Error("the database returned nothing about a visit");
    const { request, hashes, now } = click.visit;
    const networkKey = `${request.bot.botId} ${hashes.network}`;
    const users = usersOfNetworks.get(networkKey) ?? click.network.pending;
    const network = addUsers(known.network, users);
    const judged = { click, facts: known, verdict: judgeClick({ ...known, network }, click, settings, now) };
    usersOfNetworks.set(networkKey, users);
    if (!leadsToAd(judged.verdict)) return judged;
    const viewer = `${request.bot.botId} ${known.userId}`;
    if (viewers.has(viewer)) return { ...judged, verdict: again };
    viewers.add(viewer);
    if (addsUser(judged)) usersOfNetworks.set(networkKey, addUsers(users, oneUser(now)));
    return judged;
  });
}
