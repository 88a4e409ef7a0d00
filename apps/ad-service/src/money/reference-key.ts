/**
 * Equal for references that a person reads as the same: `INV-2026-014`, `inv 2026 014` and `ＩＮＶ–2026–014`. Unicode's
 * compatibility forms, case, blanks, dashes and invisible characters are left out of the comparison.
 */
export function referenceKey(reference: string): string {
  const key = fold(fold(reference).replaceAll(/[\p{Pd}\p{Pc}\p{Z}\p{Cf}\p{Cc}\u2212]/gu, ""));
  return key === "" ? fold(reference) : key;
}

function fold(text: string): string {
  return text.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
