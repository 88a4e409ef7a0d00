/**
 * Why a click may not have been a person's, though every limit let it pass. Each is a bit of the verdict that the counting
 * statement gives; 1 is "admitted". The first two are seen under the lock of the address, so a burst does not hide them; the
 * others are known when the link is read.
 */
export const clickSuspicions = {
  /** More than five users came from one address with one user agent. */
  "many-users-of-one-agent": 2,
  /** Ten clicks or more of the address counted on this day, four of five of them by a tap. */
  "mostly-taps": 4,
  /** The latest hundred clicks of the network (/24, /48) on this day were of thirty users or more. */
  "crowded-network": 8,
  /** The click came within a second of the code. */
  "right-after-issue": 16,
} as const;

export type ClickSuspicion = keyof typeof clickSuspicions;

/** What the statement is told of an address. */
export const MOST_USERS_OF_AGENT = 5;
export const LEAST_TAPS = 10;
/** How many of the network's latest clicks are looked at. */
export const LATEST_OF_NETWORK = 100;

const CROWD = 30;
const SOONEST_MS = 1000;

/** The bits that a read link shows by itself. */
export function signalsOfLink(link: { usersOfNetwork: number; issuedAt: Date }, now: Date): number {
  return (
    (link.usersOfNetwork >= CROWD ? clickSuspicions["crowded-network"] : 0) +
    (now.getTime() - link.issuedAt.getTime() < SOONEST_MS ? clickSuspicions["right-after-issue"] : 0)
  );
}

/** SQL: the names of the bits that are set in `verdict`. */
export function suspicionsInSql(verdict: string): string {
  const names = Object.entries(clickSuspicions).map(
    ([name, bit]) => `case when ${verdict} & ${bit} > 0 then '${name}' end`,
  );
  return `array_remove(array[${names.join(", ")}], null)`;
}
