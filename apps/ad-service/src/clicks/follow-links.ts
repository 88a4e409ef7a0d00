import { createHmac, hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { eventIdOfClick } from "@intermission/ad-core/code";
import { groupCommits, OverloadedError } from "@intermission/postgres/group-commits";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { ClientNetworks } from "@intermission/server/client-address";
import type { Visitor } from "@intermission/server/visitor";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { CampaignState } from "../ad-selection/campaign-state.ts";
import type { AdRequest } from "../ad-selection/eligibility.ts";
import { askLimits, hasBudgetLeft, isNearLimit, isSerialized } from "../ad-selection/select-ad.ts";
import type { DeliveryMode } from "../bots/bots.ts";
import { type ClaimedEvent, type Deliveries, LEASE_SECONDS, type MadeEvents } from "../deliveries/deliveries.ts";

/** A visit, with everything that decides about it and is known outside the database. */
export interface JudgedVisit {
  code: string;
  clickId: string;
  visitor: Visitor;
  /** The visitor tapped the button of our own page. */
  isTap: boolean;
  userAgent: string;
  hashes: AddressHashes;
  now: Date;
  /** The user for whom an ad is chosen. `seen` stays empty until a campaign's cap per user matters. */
  request: AdRequest;
}

/** The statement's result for a visit (`follow-links.sql` describes the outcomes), and the ad that was chosen for it. */
export interface FollowedLink {
  outcome: string;
  availableAt: Date | null;
  usedCampaignId: string | null;
  userId: string | null;
  state: CampaignState | undefined;
}

export interface FollowLinksDeps {
  database: Database;
  deliveries: Deliveries;
  campaigns: CampaignSnapshot;
  /** Limit of counted clicks of one address on one day (UTC); undefined: unlimited. */
  mostDailyClicksPerAddress?: number | undefined;
}

/** A chosen ad, reserved against its campaign's limits until it is known whether it counts. */
interface ChosenAd {
  state: CampaignState;
  isSerialized: boolean;
  release(): void;
}

/** The result of a visit; or, with `url`, an event that this node claimed. */
interface Row extends Omit<FollowedLink, "state"> {
  visit: number;
  body: string | null;
  url: string | null;
  deliveryMode: DeliveryMode | null;
}

const visits = rowParameters({
  bot: "text",
  code: "text",
  event: "text",
  time: "text",
  refusal: "text",
  doubt: "text",
  isTap: "boolean",
  campaign: "text",
  isNearLimit: "boolean",
  agent: "text",
  agentKey: "integer",
  address: "bytea",
  addressBefore: "bytea",
  network: "bytea",
});

const follow = statement<Row>(
  "clicks.follow",
  `select visit, outcome, available_at as "availableAt", campaign_id as "usedCampaignId", user_id as "userId", body, url,
     delivery_mode as "deliveryMode"
   from follow_links(${visits.parameters.join(", ")},
     $${visits.parameters.length + 1}::integer, $${visits.parameters.length + 2}::integer, ${LEASE_SECONDS})`,
);

function rowOf({ request, code, clickId, now, visitor, isTap, userAgent, hashes }: JudgedVisit, ad?: ChosenAd) {
  return {
    ...{ bot: request.bot.botId, code, event: eventIdOfClick(clickId), time: now.toISOString(), isTap },
    refusal: visitor.kind === "machine" ? `machine-${visitor.reason}` : null,
    doubt: visitor.kind === "doubtful" ? visitor.reason : null,
    ...{ campaign: ad?.state.campaign.campaignId, isNearLimit: ad?.isSerialized ?? false, agent: userAgent },
    // Usable for one day: the seed derives from the hash of the address, which changes daily.
    agentKey: crc32(userAgent, Number.parseInt(hashes.today.slice(0, 8), 16)) | 0,
    ...{ address: hashes.today, addressBefore: hashes.yesterday, network: hashes.network },
  };
}

/** Follows links; simultaneous visits share one statement. */
export function linkFollower(deps: FollowLinksDeps): (visit: JudgedVisit) => Promise<FollowedLink> {
  const { database, deliveries } = deps;
  const group = groupCommits<JudgedVisit, FollowedLink>({
    store: database.kind,
    // The statement locks addresses in the order of the visits, and takes one visit of each address.
    orderBy: ({ hashes }) => hashes.today,
    oneAtATimeBy: ({ hashes }) => hashes.today,
    async run(batch) {
      const ads = await chooseAds(deps, batch);
      const followed = await deliveries.sendNew(batch.length, (slots) =>
        runStatement(database, batch, { ...deps, ads, slots }),
      );
      for (const [index, { outcome }] of followed.entries()) if (outcome !== "counted") ads[index]?.release();
      return followed;
    },
  });
  const followLast = lastClickFollower(deps);
  return async (visit) => {
    const followed = await group.submit(visit);
    if (followed.outcome !== "near-limit" || followed.state === undefined) return followed;
    return followLast(visit, followed.state);
  };
}

/** Chooses an ad for each visit. If a campaign is near a limit, the database is queried first, once for all visits. */
async function chooseAds(
  deps: Pick<FollowLinksDeps, "database" | "campaigns">,
  batch: readonly JudgedVisit[],
): Promise<(ChosenAd | undefined)[]> {
  const { campaigns } = deps;
  const asked = new Set<string>();
  for (;;) {
    const ads = batch.map((visit): ChosenAd | undefined => {
      if (visit.visitor.kind === "machine") return undefined;
      const choice = campaigns.choose(visit.request, { now: visit.now, random: Math.random });
      if (choice.outcome === "no-ad") return undefined;
      const { state } = choice;
      const release = campaigns.hold(state.campaign.campaignId, "direct_link");
      return { state, isSerialized: isSerialized(state, "direct_link"), release };
    });
    const unasked = ads.find((ad) => ad && isNearLimit(ad.state, "direct_link") && !asked.has(idOf(ad)));
    if (unasked === undefined) return ads;
    for (const ad of ads) ad?.release();
    asked.add(idOf(unasked));
    await askLimits(deps, unasked.state, batch[0]?.now ?? new Date());
  }
}

const idOf = ({ state }: ChosenAd) => state.campaign.campaignId;

async function runStatement(
  database: Transaction,
  batch: readonly JudgedVisit[],
  of: { ads: readonly (ChosenAd | undefined)[]; slots: number; mostDailyClicksPerAddress?: number | undefined },
): Promise<MadeEvents<FollowedLink[]>> {
  const { ads, slots, mostDailyClicksPerAddress = null } = of;
  const rows = await database.run(follow, [
    ...visits.values(batch.map((visit, index) => rowOf(visit, ads[index]))),
    mostDailyClicksPerAddress,
    slots,
  ]);
  const result: FollowedLink[] = [];
  const claimed: ClaimedEvent[] = [];
  let made = 0;
  for (const { visit, body, url, deliveryMode, ...followed } of rows) {
    const index = visit - 1;
    const asked = batch[index];
    if (asked === undefined) throw new Error("the database returned a visit that was not requested");
    if (body !== null && url !== null && deliveryMode !== null) {
      const { botId } = asked.request.bot;
      claimed.push({ botId, eventId: eventIdOfClick(asked.clickId), body, url, deliveryMode });
    } else {
      if (followed.outcome === "counted") made += 1;
      result[index] = { ...followed, state: ads[index]?.state };
    }
  }
  return { result, made, claimed };
}

/** Visits that may wait for a campaign's last clicks on this node; further visitors must retry. */
const MOST_IN_LINE = 500;

/**
 * Follows the last links before a campaign's limit, one at a time: the transaction that counts a click also reads how
 * much is left, so that none is counted beyond the limit. The visits queue on this node, since in the database they
 * would wait for one another too, each with a connection that other requests need. "full": nothing was counted; choose
 * another ad.
 */
function lastClickFollower(deps: FollowLinksDeps) {
  const { database, campaigns, deliveries } = deps;
  const lines = new Map<string, { length: number; last: Promise<unknown> }>();

  async function followOne(visit: JudgedVisit, state: CampaignState): Promise<FollowedLink> {
    const ad = { state, isSerialized: false, release() {} };
    const followed = await database.transaction(async (tx) => {
      if (!(await hasBudgetLeft({ database: tx, campaigns }, state, { format: "direct_link", now: visit.now })))
        return undefined;
      const { result } = await runStatement(tx, [visit], { ...deps, ads: [ad], slots: 0 });
      return result[0];
    });
    if (followed?.outcome === "counted") {
      campaigns.hold(state.campaign.campaignId, "direct_link");
      deliveries.wake();
    }
    return followed ?? { outcome: "full", availableAt: null, usedCampaignId: null, userId: null, state };
  }

  return async (visit: JudgedVisit, state: CampaignState): Promise<FollowedLink> => {
    const { campaignId } = state.campaign;
    const line = lines.get(campaignId) ?? { length: 0, last: Promise.resolve() };
    if (line.length === MOST_IN_LINE) throw new OverloadedError(`${MOST_IN_LINE} clicks wait for one campaign`);
    lines.set(campaignId, line);
    line.length += 1;
    const followed = line.last.then(() => followOne(visit, state));
    line.last = followed.catch(() => {});
    try {
      return await followed;
    } finally {
      line.length -= 1;
      if (line.length === 0) lines.delete(campaignId);
    }
  };
}

/** 128-bit hashes: of one address with the keys of two days, and of its network (/24, /48) with today's key. */
export interface AddressHashes {
  today: string;
  yesterday: string;
  network: string;
}

export type AddressHasher = (client: ClientNetworks, now: Date) => AddressHashes;

const DAY_MS = 86_400_000;

/**
 * Hashes addresses with a key of the (UTC) day, derived from the one in the environment: equal addresses can be counted
 * within a day, and without that key they cannot even be guessed. Of IPv6 the first 64 bits count, since a household
 * has the rest. Yesterday's hash is for limits whose time began then; it is never stored beside today's.
 */
export function addressHasher(encryptionKey: Uint8Array): AddressHasher {
  let day = Number.NaN;
  let keys = { today: "", yesterday: "" };
  const keyOf = (ofDay: number) => {
    const date = new Date(ofDay * DAY_MS).toISOString().slice(0, 10);
    return createHmac("sha256", encryptionKey).update(`direct-link addresses ${date}`).digest("base64");
  };
  return ({ client, wider }, now) => {
    const today = Math.floor(now.getTime() / DAY_MS);
    if (today !== day) {
      keys = { today: keyOf(today), yesterday: keyOf(today - 1) };
      day = today;
    }
    return {
      today: hashOf(keys.today, client),
      yesterday: hashOf(keys.yesterday, client),
      network: hashOf(keys.today, `network ${wider}`),
    };
  };
}

/**
 * With a secret key of fixed length and a hash cut to half, length extension is impossible; a plain hash takes a third
 * of an HMAC's time.
 */
function hashOf(key: string, text: string): string {
  return hash("sha256", `${key}${text}`, "hex").slice(0, 32);
}
