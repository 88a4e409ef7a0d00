import { z } from "zod";
import type { FieldFaultValues } from "./field-faults.ts";
import { fieldFault } from "./field-forms.ts";
import { formKinds } from "./form-kinds.ts";

/**
 * Amounts of money are integers of micros, which are millionths of the deployment's currency. This file has their bounds and
 * their form, for the command line and for HTTP alike (docs/decisions/statistics.md).
 */
const MICROS_PER_UNIT = 1_000_000n;
const DECIMALS = 6;
/** More than any amount within the bounds has. */
const MAX_LENGTH = 40;

/** Above this, doubles have only even integers, then multiples of 4, 8 and 16. */
const MAX_FINE_MICROS = Number.MAX_SAFE_INTEGER;
/** A hundredth. It is a multiple of 16, so that doubles have all its multiples up to 2^57, which is above every bound. */
const COARSE_STEP = 10_000;

/** `price`: of one view or click. `budget`: of a campaign, in total or per day, or none. `payment`: what was paid, never nothing. */
export type AmountKind = "price" | "budget" | "payment";

const bounds = {
  price: { min: 0, max: 1e15 },
  budget: { min: 1, max: 1e17 },
  payment: { min: 1, max: 1e17 },
} satisfies Record<AmountKind, { min: number; max: number }>;

/** Why an amount is refused. */
export type AmountFault =
  | "other-form"
  | "digit-groups"
  | "decimal-comma"
  | "comma"
  | "exponent"
  | "currency"
  | "sign"
  | "point"
  | "decimals"
  | "too-small"
  | "zero"
  | "too-large"
  | "too-fine";

export type AmountReading =
  | { outcome: "amount"; micros: number }
  /** `message` names the bounds and how to write the amount; `values` are those of the fault `AMOUNT`. */
  | { outcome: "refused"; fault: AmountFault; message: string; values: FieldFaultValues<"AMOUNT"> };

/** Reads an amount that a person has written, such as `12` or `0.002`. */
export function readAmount(text: string, kind: AmountKind): AmountReading {
  const { min, max } = bounds[kind];
  const refused = (fault: AmountFault, write = ""): AmountReading => {
    const values = { min: amountOf(min), max: amountOf(max), fault, write };
    const form = `must be an amount from ${values.min} to ${values.max}, such as 12 or 0.002`;
    const how = fault === "too-small" && kind === "budget" ? "for no budget write none" : hints[fault](write);
    return { outcome: "refused", fault, message: `${form}${how === "" ? "" : `: ${how}`}`, values };
  };
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(text.slice(0, MAX_LENGTH + 1)) ?? [];
  if (whole === undefined) return refused(...formFault(text));
  if (fraction.length > DECIMALS) return refused("decimals");
  const micros = BigInt(whole) * MICROS_PER_UNIT + BigInt(fraction.padEnd(DECIMALS, "0"));
  const fault = sizeFault(micros, kind);
  if (fault === undefined) return { outcome: "amount", micros: Number(micros) };
  return refused(fault);
}

/** How to write an amount; `write`: the amount that is meant, where that is clear. */
const hints: Readonly<Record<AmountFault, (write: string) => string>> = {
  "other-form": () => "",
  "digit-groups": (write) => `write ${write}`,
  "decimal-comma": (write) => `write ${write}`,
  comma: (write) => `write ${write}, or ${withPoint(write)} for a decimal`,
  exponent: (write) => (write === "" ? "write all its digits" : `write ${write}`),
  currency: (write) => (write === "" ? "write it without a currency" : `write ${write}`),
  sign: (write) => (write === "" ? "it is not negative" : `write ${write}`),
  point: (write) => `write ${write}`,
  decimals: () => `it has ${DECIMALS} decimals at most`,
  "too-small": () => "",
  zero: () => "it is more than 0",
  "too-large": () => "",
  "too-fine": () => `above ${amountOf(MAX_FINE_MICROS)} an amount has 2 decimals at most`,
};

/** What `5,000` means if its comma is that of a decimal. */
export function withPoint(thousands: string): string {
  return `${thousands.slice(0, -3)}.${thousands.slice(-3)}`;
}

/** Micros in the body of a request: a JSON number. */
export function microsOf(kind: AmountKind) {
  const { min, max } = bounds[kind];
  const form = `must be a whole number of micros (millionths of the currency) from ${min} to ${max}`;
  const params = fieldFault("MICROS", { min: amountOf(min), max: amountOf(max) });
  const message = (input: unknown): string | undefined => {
    const how = microsFault(input, kind);
    return how === undefined ? undefined : `${form}${how === "" ? "" : `: ${how}`}`;
  };
  return z
    .number({ error: ({ input }) => message(input) })
    .check(({ value, issues }) => {
      const fault = message(value);
      if (fault !== undefined) issues.push({ code: "custom", input: value, message: fault, params });
    })
    .meta({ type: "integer", minimum: min, maximum: max })
    .register(formKinds, { kind });
}

function microsFault(input: unknown, kind: AmountKind): string | undefined {
  if (typeof input === "string") return "it is a JSON number, not text";
  if (typeof input !== "number" || !Number.isFinite(input)) return "";
  if (!Number.isInteger(input)) return `an amount of ${input} is ${Math.round(input * 1e6)} micros`;
  const fault = sizeFault(BigInt(input), kind);
  if (fault === undefined) return undefined;
  return fault === "too-small" && kind === "budget" ? "for no budget send null" : hints[fault]("");
}

type SizeFault = Extract<AmountFault, "too-small" | "zero" | "too-large" | "too-fine">;

function sizeFault(micros: bigint, kind: AmountKind): SizeFault | undefined {
  const { min, max } = bounds[kind];
  if (micros < min) return kind === "payment" ? "zero" : "too-small";
  if (micros > max) return "too-large";
  return micros > MAX_FINE_MICROS && micros % BigInt(COARSE_STEP) !== 0n ? "too-fine" : undefined;
}

/**
 * Whether sums of this price stay exact in doubles up to this budget. Sums of hundredths do, see `COARSE_STEP`; sums of finer
 * prices do up to 2^53 micros.
 */
export function isPriceTooFine(priceMicros: number, budgetMicros: number): boolean {
  return budgetMicros > MAX_FINE_MICROS && priceMicros % COARSE_STEP !== 0;
}

export const finePriceFieldFault = fieldFault("PRICE_TOO_FINE", { above: amountOf(MAX_FINE_MICROS) });
export const finePriceRule = `must have 2 decimals at most beside a budget above ${amountOf(MAX_FINE_MICROS)}`;

const plain = /^\d+(\.\d+)?$/;
const commaOfThreeDigits = /^[1-9]\d{0,2},\d{3}$/;
const digitGroups = /^([1-9]\d{0,2}(,|'|’|_|\p{Zs})(?:\d{2,3}\2)*\d{3})(?:([.,])(\d+))?$/u;
const pointGroups = /^([1-9]\d{0,2}(?:\.\d{3})+),(\d+)$|^([1-9]\d{0,2}(?:\.\d{3}){2,})$/;
const currencyBefore = /^(?:[A-Z]{0,3}\p{Sc}|[A-Za-z]{3})\p{Zs}?(?=[\d.,+−-])(.+)$/u;
const currencyAfter = /^(.*\d[.,]?)\p{Zs}?(?:[A-Z]{0,3}\p{Sc}|[A-Za-z]{3}|руб\.?|р\.)$/u;

/** What is wrong with text that is not an amount, and how to write it where that is clear. */
function formFault(text: string): [fault: AmountFault, write?: string] {
  if (text.length > MAX_LENGTH) return ["other-form"];
  if (/^[-−]/.test(text)) return [/\d/.test(text) ? "sign" : "other-form"];
  if (/^\+[\d.,]/.test(text)) return around("sign", text.slice(1));
  const amount = (currencyBefore.exec(text) ?? currencyAfter.exec(text))?.[1];
  if (amount !== undefined) return around("currency", amount);
  if (commaOfThreeDigits.test(text)) return ["comma", text.replace(",", "")];
  const [, grouped, separator, point, fraction] = digitGroups.exec(text) ?? [];
  if (grouped !== undefined && (point === undefined || point !== separator))
    return ["digit-groups", grouped.replaceAll(/\D/g, "") + (fraction === undefined ? "" : `.${fraction}`)];
  const [, pointed, decimals, whole] = pointGroups.exec(text) ?? [];
  if (pointed !== undefined) return ["digit-groups", `${pointed.replaceAll(".", "")}.${decimals}`];
  if (whole !== undefined) return ["digit-groups", whole.replaceAll(".", "")];
  if (/^\d+,\d+$/.test(text)) return ["decimal-comma", text.replace(",", ".")];
  if (/^[.,]\d+$/.test(text)) return ["point", `0.${text.slice(1)}`];
  if (/^\d+[.,]$/.test(text)) return ["point", text.slice(0, -1)];
  if (/^\d+(\.\d+)?e[+-]?\d{1,2}$/i.test(text)) return ["exponent", withoutExponent(Number(text))];
  return ["other-form"];
}

/** The fault of what stands around an amount, which may be in another form itself. */
function around(fault: "sign" | "currency", amount: string): [fault: AmountFault, write?: string] {
  if (plain.test(amount)) return [fault, amount];
  const [inner, write] = formFault(amount);
  const said = inner === "comma" || inner === "sign" ? inner : fault;
  return write === undefined ? [said] : [said, write];
}

function withoutExponent(value: number): string {
  const micros = Math.round(value * 1e6);
  return Number.isSafeInteger(micros) ? amountOf(micros) : "";
}

/** Micros as an amount with all its digits: 2000 is 0.002. */
export function amountOf(micros: number | bigint): string {
  return roundedAmount(BigInt(micros), DECIMALS).replace(/\.?0+$/, "");
}

/** Micros with a fixed number of decimals, rounded half away from zero. */
export function roundedAmount(micros: bigint, decimals: number): string {
  const step = 10n ** BigInt(DECIMALS - decimals);
  return inSteps(roundedSteps(micros, step), decimals);
}

/**
 * The parts of a total with a fixed number of decimals, so that they add up to the total as `roundedAmount` shows it: each
 * is rounded down, and those that lose most are rounded up instead. So each differs from its value by less than one step.
 */
export function roundedParts(parts: readonly bigint[], decimals: number): string[] {
  const step = 10n ** BigInt(DECIMALS - decimals);
  const total = parts.reduce((sum, part) => sum + part, 0n);
  const lows = parts.map((part) => (part - modulo(part, step)) / step);
  const missing = Number(roundedSteps(total, step) - lows.reduce((sum, low) => sum + low, 0n));
  const byLoss = parts
    .map((part, index) => ({ index, loss: modulo(part, step) }))
    .toSorted((one, other) => (one.loss === other.loss ? one.index - other.index : one.loss < other.loss ? 1 : -1));
  const raised = new Set(byLoss.slice(0, Math.max(0, missing)).map(({ index }) => index));
  return lows.map((low, index) => inSteps(raised.has(index) ? low + 1n : low, decimals));
}

function modulo(value: bigint, step: bigint): bigint {
  return ((value % step) + step) % step;
}

function roundedSteps(micros: bigint, step: bigint): bigint {
  const half = step / 2n;
  return micros < 0n ? -((-micros + half) / step) : (micros + half) / step;
}

function inSteps(steps: bigint, decimals: number): string {
  const digits = String(steps < 0n ? -steps : steps).padStart(decimals + 1, "0");
  const sign = steps < 0n ? "-" : "";
  return decimals === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
