import { roundedAmount } from "./amounts.ts";

/** Decimals of a currency's smallest unit (ISO 4217): 2 of EUR, none of JPY, 3 of KWD. */
function decimalsOf(currency: string): number {
  const { maximumFractionDigits } = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
  return Math.min(maximumFractionDigits ?? 2, 6);
}

function stepOf(currency: string): bigint {
  return 10n ** BigInt(6 - decimalsOf(currency));
}

/** What of an amount can be paid: whole cents of EUR, whole yen. The rest stays owed. Nothing of a negative amount. */
export function payablePart(micros: bigint, currency: string): bigint {
  return micros > 0n ? micros - (micros % stepOf(currency)) : 0n;
}

/** An amount with all decimals of its currency: `12.50` of EUR. */
export function inUnits(micros: bigint, currency: string): string {
  return roundedAmount(micros, decimalsOf(currency));
}

interface Amounts {
  currency: string;
  openingMicros: number | bigint;
  closingMicros: number | bigint;
  lines: readonly { amountMicros: number | bigint }[];
}

/** As a statement shows them, in the smallest unit of its currency. */
interface StatementAmounts {
  opening: string;
  closing: string;
  lines: string[];
}

/**
 * Opening balance and lines add up to the closing balance as they are shown, and the next statement opens with it: each line is
 * rounded down, and those that lose most are rounded up instead, so that each differs from its value by less than one unit.
 */
export function statementAmounts({ currency, openingMicros, closingMicros, lines }: Amounts): StatementAmounts {
  const step = stepOf(currency);
  const text = (steps: bigint) => roundedAmount(steps * step, decimalsOf(currency));
  const opening = floored(BigInt(openingMicros) + step / 2n, step);
  const closing = floored(BigInt(closingMicros) + step / 2n, step);
  const parts = lines.map(({ amountMicros }, index) => {
    const micros = BigInt(amountMicros);
    const low = floored(micros, step);
    return { index, low, loss: micros - low * step };
  });
  const missing = closing - opening - parts.reduce((sum, { low }) => sum + low, 0n);
  const byLoss = parts.toSorted((one, other) => Number(other.loss - one.loss) || one.index - other.index);
  const raised = new Set(byLoss.slice(0, Number(missing)).map(({ index }) => index));
  return {
    opening: text(opening),
    closing: text(closing),
    lines: parts.map(({ index, low }) => text(raised.has(index) ? low + 1n : low)),
  };
}

/** Whole steps, rounded down. */
function floored(micros: bigint, step: bigint): bigint {
  return (micros - (((micros % step) + step) % step)) / step;
}
