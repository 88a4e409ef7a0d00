/** Apart from the routes, since the console's addresses have them: its first screen loads these alone. */

/** Why a view may not be a person's although its timing is right. */
export const viewSuspicions = [
  "mostly-hidden",
  "not-in-view",
  "covered",
  "no-frames",
  "too-many-frames",
  "faster-than-time",
  "too-even",
  "too-few-calls",
] as const;
export type ViewSuspicion = (typeof viewSuspicions)[number];

/** Why a click may not be a person's although it would count. */
export const clickSuspicions = [
  "many-users-of-one-address",
  "crowded-network",
  "many-users-of-one-agent",
  "mostly-taps",
  "right-after-issue",
  "address-changed",
  "tap-unconfirmed",
] as const;
export type ClickSuspicion = (typeof clickSuspicions)[number];
