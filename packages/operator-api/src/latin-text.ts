/** Letters that have no mark to take off. */
// biome-ignore format: packed
const others: Readonly<Record<string, string>> = {
  ä: "ae", ö: "oe", ü: "ue", Ä: "Ae", Ö: "Oe", Ü: "Ue", ß: "ss", ẞ: "SS", æ: "ae", Æ: "Ae", œ: "oe", Œ: "Oe", ø: "o", Ø: "O",
  ł: "l", Ł: "L", đ: "d", Đ: "D", ð: "d", Ð: "D", þ: "th", Þ: "Th", ı: "i", "’": "'", "‘": "'", "–": "-", "—": "-", "&": "+",
};

/**
 * Text in the letters that every bank of the Single Euro Payments Area takes: a-z A-Z 0-9 / - ? : ( ) . , ' + and the blank (EPC
 * implementation guidelines of credit transfers, 1.4). What has no such letters becomes a blank.
 */
export function latinText(text: string): string {
  const plain = [...text.normalize("NFC")].map((letter) => others[letter] ?? letter).join("");
  const unmarked = plain.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return unmarked
    .replaceAll(/[^a-zA-Z0-9/?:().,'+ -]/g, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim();
}

/** Whether text has a letter or a digit, and keeps each of them so. */
export function isLatinText(text: string): boolean {
  const signs = [...text.normalize("NFC")].filter((sign) => /[\p{L}\p{N}]/u.test(sign));
  return signs.length > 0 && signs.every((sign) => /[a-zA-Z0-9]/.test(latinText(sign)));
}
