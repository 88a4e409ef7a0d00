import { type Language, languages } from "./languages.ts";
import { useLanguage } from "./word-table.ts";

/** Numbers, money and times as the reader's language writes them. */
export function formatsOf(language: Language) {
  const moneyOf = moneyFormats(language);
  // A time stands with its zone: readers elsewhere see other clocks.
  const dateTime = new Intl.DateTimeFormat(language, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  });
  const date = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  const month = new Intl.DateTimeFormat(language, { year: "numeric", month: "long", timeZone: "UTC" });
  const clock = new Intl.DateTimeFormat(language, { timeStyle: "long" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const number = new Intl.NumberFormat(language);
  const share = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
  const seconds = new Intl.NumberFormat(language, { style: "unit", unit: "second", maximumFractionDigits: 1 });
  const milliseconds = new Intl.NumberFormat(language, {
    style: "unit",
    unit: "millisecond",
    maximumFractionDigits: 0,
  });
  const kilobytes = new Intl.NumberFormat(language, { style: "unit", unit: "kilobyte", maximumFractionDigits: 0 });
  const megabytes = new Intl.NumberFormat(language, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });
  const change = new Intl.NumberFormat(language, {
    style: "percent",
    maximumFractionDigits: 0,
    signDisplay: "exceptZero",
  });
  return {
    seconds: (value: number) => seconds.format(value),
    milliseconds: (value: number) => milliseconds.format(value),
    bytes: (value: number) => (value < 1e6 ? kilobytes.format(value / 1e3) : megabytes.format(value / 1e6)),
    dateTime: (at: Date) => dateTime.format(at),
    date: (at: Date) => date.format(at),
    /** The reader's zone, as `Europe/Berlin`. */
    zone: dateTime.resolvedOptions().timeZone,
    /** Of `2026-03`. */
    month: (text: string) => month.format(new Date(`${text}-01T00:00:00Z`)),
    clock: (at: Date | number) => clock.format(at),
    number: (value: number) => number.format(value),
    share: (value: number) => share.format(value),
    /** “+12%”, “-3%”, and “0%” for less than half a percent. */
    change: (value: number) => change.format(value),
    /** Micros of a currency. Prices of few cents, or of few yen, where there is nothing smaller, keep their digits. */
    money(micros: number, currency: string): string {
      const amount = micros / 1e6;
      const { usual, fine, fineBelow } = moneyOf(currency);
      return (amount !== 0 && Math.abs(amount) < fineBelow ? fine : usual).format(amount);
    },
    /** An amount with the decimals that it has, such as one of a statement. */
    amountInUnits(amount: string, currency: string): string {
      const decimals = amount.split(".")[1]?.length ?? 0;
      const style = { style: "currency", currency, minimumFractionDigits: decimals } as const;
      // Text keeps all digits of large amounts; TypeScript knows only the form of a number's text.
      return new Intl.NumberFormat(language, { ...style, maximumFractionDigits: decimals }).format(
        amount as Intl.StringNumericLiteral,
      );
    },
    /** With all digits: amounts of the ledger add up as they are shown. */
    exactMoney(micros: number, currency: string): string {
      return new Intl.NumberFormat(language, { style: "currency", currency, maximumFractionDigits: 6 }).format(
        micros / 1e6,
      );
    },
    /** “in 3 days”, “5 minutes ago”. */
    ago(at: Date, now = Date.now()): string {
      const seconds = Math.round((at.getTime() - now) / 1000);
      const [size, unit] = steps.find(([size]) => Math.abs(seconds) >= size) ?? ([1, "second"] as const);
      return relative.format(Math.trunc(seconds / size), unit);
    },
  };
}

/** The formats of each currency, which tables need once for each of their cells. */
function moneyFormats(language: Language) {
  const made = (currency: string) => {
    const style = { style: "currency", currency } as const;
    const usual = new Intl.NumberFormat(language, style);
    const { maximumFractionDigits: decimals = 2 } = usual.resolvedOptions();
    const fine = new Intl.NumberFormat(language, { ...style, maximumFractionDigits: 6 });
    return { usual, fine, fineBelow: 10 ** (1 - decimals) };
  };
  const known = new Map<string, ReturnType<typeof made>>();
  return (currency: string) => {
    const formats = known.get(currency) ?? made(currency);
    known.set(currency, formats);
    return formats;
  };
}

const steps = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

const formats = Object.fromEntries(languages.map((language) => [language, formatsOf(language)])) as Record<
  Language,
  ReturnType<typeof formatsOf>
>;

export function useFormats() {
  return formats[useLanguage()];
}
