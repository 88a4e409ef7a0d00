/** What a tracker sent as the value of a conversion. `unfilled`: its macro was not filled in, so that there is no value. */
export type ReadValue = { outcome: "value"; micros: string } | { outcome: "unfilled" } | { outcome: "refused" };

const MAX_MICROS = 10n ** 17n;
const DECIMALS = 6;
const MAX_LENGTH = 64;
const MAX_EXPONENT = 40;

const number = /^\+?(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<exponent>[+-]?\d{1,3}))?$/;
/** `{payout}`, `{{payout}}`, `${payout}`, `[PAYOUT]`, `<payout>`, `%PAYOUT%`, `%%PAYOUT%%`, `#payout#`, `$payout`, `:payout`. */
const macro = /^(?:\$?\{+[^{}]*\}+|\[[^[\]]*\]|<[^<>]*>|(%{1,2}|#)[A-Za-z_][\w.-]*\1|[$:@][A-Za-z_][\w.-]*)$/;
const words = new Set(["", "null", "(null)", "undefined", "none", "nil", "nan", "n/a", "-"]);

/** Whether a field has no value, or a macro that its sender did not fill in. */
export function isUnfilled(text: string): boolean {
  return words.has(text.toLowerCase()) || macro.test(text);
}

/** An amount in units of the currency, rounded to the millionth: programs send `19.989999999999998` for 19.99. */
export function readValue(sent: string | number): ReadValue {
  const scaled = scaledBy(sent, DECIMALS);
  if ("outcome" in scaled) return scaled;
  return boundedValue((scaled.tenths + 5n) / 10n);
}

/** A whole number of micros. A fraction is refused, since it is an amount in units, unless it is the noise of a product. */
export function readMicros(sent: string | number): ReadValue {
  const scaled = scaledBy(sent, DECIMALS);
  if ("outcome" in scaled) return scaled;
  const inMillionths = (scaled.tenths + 5n) / 10n;
  const rest = inMillionths % 1_000_000n;
  if (rest > 1n && rest < 999_999n) return { outcome: "refused" };
  return boundedValue((inMillionths + 500_000n) / 1_000_000n);
}

function boundedValue(micros: bigint): ReadValue {
  return micros > MAX_MICROS ? { outcome: "refused" } : { outcome: "value", micros: String(micros) };
}

type Unread = Exclude<ReadValue, { outcome: "value" }>;

/** The number with so many decimals and one more, as a whole number; what lies behind is left out. */
function scaledBy(sent: string | number, decimals: number): { tenths: bigint } | Unread {
  const text = String(sent).trim();
  if (isUnfilled(text)) return { outcome: "unfilled" };
  if (text.length > MAX_LENGTH) return { outcome: "refused" };
  const { whole = "", fraction = "", exponent = "0" } = number.exec(text)?.groups ?? {};
  if (whole + fraction === "") return { outcome: "refused" };
  const shift = Number(exponent) - fraction.length + decimals + 1;
  if (shift > MAX_EXPONENT) return { outcome: "refused" };
  const digits = BigInt(whole + fraction);
  return { tenths: shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift) };
}
