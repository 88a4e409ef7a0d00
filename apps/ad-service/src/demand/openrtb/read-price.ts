/** A decimal number as JSON writes it, of at most 30 digits on each side. */
const DECIMAL = /^(\d{1,30})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,3}))?$/;
const MICRO_DIGITS = 6;
/** In micros: 1,000,000 of the currency for 1,000 impressions. What is above is a mistake, such as micros that stand for units. */
const MAX_CPM_MICROS = 10n ** 12n;

export type PriceReading =
  | { outcome: "price"; cpmMicros: number }
  /** Missing, negative, zero, or no decimal number. */
  | { outcome: "no-price" }
  | { outcome: "implausible-price" };

/**
 * Reads the price of a bid (OpenRTB 2.6, 3.2.21: for 1,000 impressions) from its decimal text, in millionths of the currency,
 * rounded down. It is never a floating-point number in between.
 */
export function readPrice(text: string | undefined): PriceReading {
  const [, whole, fraction = "", exponent = "0"] = DECIMAL.exec(text?.trim() ?? "") ?? [];
  if (whole === undefined) return { outcome: "no-price" };
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return { outcome: "no-price" };
  const shift = Number(exponent) - fraction.length + MICRO_DIGITS;
  const cpmMicros = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  if (cpmMicros > MAX_CPM_MICROS) return { outcome: "implausible-price" };
  return cpmMicros === 0n ? { outcome: "no-price" } : { outcome: "price", cpmMicros: Number(cpmMicros) };
}

/** The price of one impression, in micros, rounded down. */
export function priceOfOne(cpmMicros: number): number {
  return (cpmMicros - (cpmMicros % 1000)) / 1000;
}

/** As a price in `${AUCTION_PRICE}` and in floors: units of the currency, without trailing zeros. */
export function decimalText(micros: number): string {
  const digits = String(micros).padStart(MICRO_DIGITS + 1, "0");
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0+$/, "");
  return `${digits.slice(0, -MICRO_DIGITS)}${fraction && `.${fraction}`}`;
}
