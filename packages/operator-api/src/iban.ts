/** Of the countries of the Single Euro Payments Area: how long their account numbers are (SWIFT's registry of ISO 13616). */
// biome-ignore format: packed
const sepaLengths: Readonly<Record<string, number>> = {
  AD: 24, AL: 28, AT: 20, BE: 16, BG: 22, CH: 21, CY: 28, CZ: 24, DE: 22, DK: 18, EE: 20, ES: 24, FI: 18, FR: 27, GB: 22,
  GI: 23, GR: 27, HR: 21, HU: 28, IE: 22, IS: 26, IT: 27, LI: 21, LT: 20, LU: 20, LV: 21, MC: 27, MD: 24, ME: 22, MK: 19,
  MT: 31, NL: 18, NO: 15, PL: 28, PT: 25, RO: 24, RS: 22, SE: 24, SI: 19, SK: 24, SM: 27, VA: 22,
};

/** As banks store it: in capital letters, without the blanks of print. */
export function electronicIban(text: string): string {
  return text.replaceAll(/\s/g, "").toUpperCase();
}

/** Whether an account number in electronic form has right check digits (ISO 13616, ISO 7064 MOD 97-10) and its country's length. */
export function isIban(iban: string): boolean {
  if (!/^[A-Z]{2}\d{2}[0-9A-Z]{11,30}$/.test(iban)) return false;
  const length = sepaLengths[iban.slice(0, 2)];
  if (length !== undefined && iban.length !== length) return false;
  const digits = [...(iban.slice(4) + iban.slice(0, 4))].map((character) => Number.parseInt(character, 36)).join("");
  return BigInt(digits) % 97n === 1n;
}

/** Transfers from and to these countries also need the payer's address and the other bank's BIC. */
const outsideOfEea = ["AD", "AL", "CH", "GB", "GI", "MC", "MD", "ME", "MK", "RS", "SM", "VA"];

/** SEPA countries where a transfer needs only a name and an IBAN: those of the European Economic Area. */
export const ibanOnlyCountries: readonly string[] = Object.keys(sepaLengths).filter(
  (country) => !outsideOfEea.includes(country),
);

/** Whether a transfer in euros to this account needs only a name and the IBAN. */
export function isIbanOnly(iban: string): boolean {
  return ibanOnlyCountries.includes(iban.slice(0, 2));
}

/** In groups of four, as people read it. */
export function printedIban(iban: string): string {
  return iban.replaceAll(/(.{4})(?=.)/g, "$1 ");
}
