/** Kinds of ads that laws restrict. They are refused unless the operator allows them for a buyer. */
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

/** An empty list: the taxonomy has no category of this kind. */
type Codes = Readonly<Record<RegulatedKind, readonly string[]>>;

/** The parent of all categories that are a risk for brands. IAB's mapping uses it for drugs, bets, tobacco and weapons. */
const SENSITIVE = "v9i3On";
const DRUGS_TOBACCO_ALCOHOL = "pg0WhF";
/**
 * IAB Content 2.0 to 3.1: later versions add codes and never change their meaning. A kind without a code uses IAB's mapping "Ad
 * Product 2.0 to Content 2.1", such as the code of currencies for crypto.
 */
const content2And3: Codes = {
  adult: ["Rm3SiT", "j9PaO9", "307", "308", "MQ2XML"],
  alcohol: ["211", DRUGS_TOBACCO_ALCOHOL],
  cannabis: [SENSITIVE, DRUGS_TOBACCO_ALCOHOL],
  crypto: ["82"],
  dating: ["188"],
  gambling: [SENSITIVE, "181", "480", "524", "ZJG29S"],
  illegal: [SENSITIVE, "XtODT3", "mm3UXx", "6i4dB6", "8FD8nI", "HxqYV1"],
  loans: ["408"],
  medicine: ["109", "320"],
  politics: ["174", "379", "386", "387", "388", "8YPBBL", "Z7rJBM"],
  tobacco: [SENSITIVE, DRUGS_TOBACCO_ALCOHOL, "260"],
  weapons: [SENSITIVE, "avbNf2"],
};

/**
 * By their numbers in AdCOM: IAB Content 1.0, Content 2.0 to 3.1, and Ad Product 2.0. Not Ad Product 1.0, which has no category for
 * gambling or weapons, nor that of audiences.
 */
const codesByTaxonomy: Readonly<Record<number, Codes>> = {
  1: {
    adult: ["IAB25", "IAB7-39"],
    alcohol: ["IAB8-5", "IAB8-18"],
    cannabis: [],
    crypto: [],
    dating: ["IAB14-1"],
    // This taxonomy has no category for gambling; buyers use the one of card games.
    gambling: ["IAB9-7"],
    illegal: ["IAB26"],
    loans: [],
    medicine: [],
    politics: ["IAB11-4"],
    tobacco: ["IAB9-9"],
    weapons: [],
  },
  2: content2And3,
  5: content2And3,
  6: content2And3,
  7: content2And3,
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
  9: content2And3,
};

/** Categories to refuse if only these kinds are allowed; undefined: unknown, any category may be of another kind. */
export function regulatedCategories(taxonomy: number, allowed: readonly RegulatedKind[]): string[] | undefined {
  const refused = regulatedKinds.filter((kind) => !allowed.includes(kind));
  if (refused.length === 0) return [];
  const codes = codesByTaxonomy[taxonomy];
  return codes && [...new Set(refused.flatMap((kind) => codes[kind]))];
}
