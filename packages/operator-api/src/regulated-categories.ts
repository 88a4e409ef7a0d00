/** Kinds of ads that laws restrict. They are refused of each buyer, unless the operator allows them. */
export const regulatedKinds = [
  "adult",
  "alcohol",
  "cannabis",
  "crypto",
  "dating",
  "gambling",
  "illegal",
  "loans",
  "medicine",
  "politics",
  "tobacco",
  "weapons",
] as const;
export type RegulatedKind = (typeof regulatedKinds)[number];

/** Codes from one number to another: a category of the ad product taxonomy, and those below it. */
const from = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `${first + index}`);

/**
 * The taxonomies that have codes for them, by their numbers in AdCOM: IAB Content 1.0, and IAB Ad Product 2.0. An empty list:
 * the taxonomy has no category of this kind.
 */
const codesByTaxonomy: Readonly<Record<number, Readonly<Record<RegulatedKind, readonly string[]>>>> = {
  1: {
    adult: ["IAB25", "IAB7-39"],
    alcohol: ["IAB8-5", "IAB8-18"],
    cannabis: [],
    crypto: [],
    dating: ["IAB14-1"],
    // No category of this taxonomy is for gambling: buyers use that of card games.
    gambling: ["IAB9-7"],
    illegal: ["IAB26"],
    loans: [],
    medicine: [],
    politics: ["IAB11-4"],
    tobacco: ["IAB9-9"],
    weapons: [],
  },
  8: {
    adult: ["1001", ...from(1519, 1523)],
    alcohol: from(1002, 1007),
    cannabis: from(1049, 1057),
    crypto: from(1448, 1451),
    dating: from(1259, 1261),
    gambling: from(1361, 1367),
    illegal: ["1000"],
    loans: ["1338", "1349"],
    medicine: ["1473"],
    politics: ["1262", ...from(1474, 1481)],
    tobacco: from(1544, 1550),
    weapons: from(1576, 1582),
  },
};

/** The categories of a taxonomy that are refused where only these kinds are allowed. */
export function regulatedCategories(taxonomy: number, allowed: readonly RegulatedKind[]): string[] {
  const codes = codesByTaxonomy[taxonomy];
  return regulatedKinds.filter((kind) => !allowed.includes(kind)).flatMap((kind) => codes?.[kind] ?? []);
}
