/** What the consent of a viewer came to, for a buyer that may be sent an address or an id. */
export const consentOutcomesInEnglish = {
  consented: "the viewer has consented",
  "not-needed": "the publisher says that no consent is needed",
  none: "nothing was said of the viewer's consent",
  unreadable: "the consent string cannot be read",
  refused: "the viewer has not consented to the purposes 1 and 2 of TCF, or the publisher restricts them",
  "other-vendor": "the consent does not name the buyer's vendor, or the buyer has no vendor id",
  "opted-out": "the viewer has opted out",
} as const satisfies Record<string, string>;

export type ConsentOutcome = keyof typeof consentOutcomesInEnglish;
export const consentOutcomes = Object.keys(consentOutcomesInEnglish) as [ConsentOutcome, ...ConsentOutcome[]];
