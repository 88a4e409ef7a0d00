/** What operators change. */
export const objectKinds = [
  "campaign",
  "bot",
  "advertiser",
  "creative",
  "buyer",
  "bought-creative",
  "endpoint",
  "notices",
  "party",
  "payout-run",
  "person",
  "view",
  "click",
  "conversion",
  "task-bot",
  "task-channel",
  "delivery",
  "deployment",
  "saved-report",
  "sample",
] as const;
export type ObjectKind = (typeof objectKinds)[number];
