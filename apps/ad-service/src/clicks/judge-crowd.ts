/*
 * Click farms: many made-up users behind one address or in one network. A farm cannot be told from a carrier's address or a
 * school by its requests, so what one place may earn from a bot is bounded by what the bot usually earns from everywhere. The
 * floors are for small and new bots, whose whole audience may share a place.
 */

/** How many users one place may bring a bot: a share of the bot's usual clicks on a day, and never less than the floor. */
interface Bound {
  readonly floor: number;
  readonly share: number;
}

const bounds = {
  /** Users of one address within a minute. */
  addressMinute: { floor: 10, share: 0.02 },
  /** Users of one network (/24, /56) in a minute of the clock. */
  networkMinute: { floor: 30, share: 0.05 },
  /** Users of one network on one day (UTC). */
  networkDay: { floor: 60, share: 0.5 },
  /** The same; above this a click is suspicious, but not yet a farm's. */
  crowdedNetworkDay: { floor: 30, share: 0.25 },
} as const satisfies Record<string, Bound>;

/** What a place brought a bot, with the visit that is judged. */
export interface PlaceOfClick {
  /** Distinct users of the address within a minute, as far as its stored times show. */
  readonly addressMinuteUsers: number;
  /** Users whose first click of the day came from the network: in this minute, and on this day. */
  readonly networkMinuteUsers: number;
  readonly networkDayUsers: number;
}

export type CrowdSuspicion = "many-users-of-one-address" | "crowded-network";

interface Crowd {
  readonly suspicions: readonly CrowdSuspicion[];
  /** More than the bot's usual clicks explain: by default the click is held. */
  readonly isFarm: boolean;
}

/** `usualClicks`: counted clicks of the bot's busiest day in the last week, today included. */
export function judgeCrowd(place: PlaceOfClick, usualClicks: number): Crowd {
  const isBeyond = (users: number, { floor, share }: Bound) => users > Math.max(floor, share * usualClicks);
  const isAddressFarm = isBeyond(place.addressMinuteUsers, bounds.addressMinute);
  const isNetworkFarm =
    isBeyond(place.networkMinuteUsers, bounds.networkMinute) || isBeyond(place.networkDayUsers, bounds.networkDay);
  const suspicions: CrowdSuspicion[] = [];
  if (isAddressFarm) suspicions.push("many-users-of-one-address");
  if (isNetworkFarm || isBeyond(place.networkDayUsers, bounds.crowdedNetworkDay)) suspicions.push("crowded-network");
  return { suspicions, isFarm: isAddressFarm || isNetworkFarm };
}
