import { amountOf } from "@intermission/operator-api/amounts";
import { inUnits, statementAmounts } from "@intermission/operator-api/currency-units";
import type { MoneyStatement, StatementItem, StatementLine } from "@intermission/operator-api/statements";

type Exactly<Line extends object, Amount extends keyof Line> = Omit<Line, Amount> & Record<Amount, number | bigint>;

/** A statement as it was issued. In JSON, large amounts are parsed as bigints. */
export type StatementToPrint = Omit<MoneyStatement, "openingMicros" | "closingMicros" | "lines" | "items"> & {
  openingMicros: number | bigint;
  closingMicros: number | bigint;
  lines: readonly Exactly<StatementLine, "amountMicros">[];
  items: readonly Exactly<StatementItem, "unitMicros">[];
};

/** One row: a payment, a correction, an item, or a sum of charges that has no items. */
export interface PrintedLine extends Pick<StatementLine, "kind" | "at" | "reference" | "note"> {
  item: { event: string; campaign: string | null; quantity: number; unit: string } | undefined;
  /** In the smallest unit of the currency; the rows of a statement add up with its balances. */
  amount: string;
}

interface PrintedStatement {
  opening: string;
  closing: string;
  lines: PrintedLine[];
  /** What the advertiser spent, and the tax in it; undefined: the statement is a publisher's, or has no tax. */
  tax: { spent: string; contained: string; percent: string; name: string | null } | undefined;
}

export function printedStatement(statement: StatementToPrint): PrintedStatement {
  const { currency, lines, items, side } = statement;
  const rows = lines.flatMap((line) => {
    const { kind, amountMicros, at, reference, note } = line;
    const words = { kind, at, reference, note };
    const ofLine = items.filter((item) => item.kind === kind);
    const sign = (side === "advertiser") === (kind === "charge") ? -1n : 1n;
    const listed = ofLine.map(({ event, campaign, quantity, unitMicros }) => ({
      ...words,
      item: { event, campaign, quantity, unit: unitText(BigInt(unitMicros), currency) },
      amountMicros: sign * BigInt(unitMicros) * BigInt(quantity),
    }));
    // What was charged before there were items.
    const rest = BigInt(amountMicros) - listed.reduce((sum, one) => sum + one.amountMicros, 0n);
    return rest === 0n && listed.length > 0 ? listed : [...listed, { ...words, item: undefined, amountMicros: rest }];
  });
  const amounts = statementAmounts({ ...statement, lines: rows });
  return {
    opening: amounts.opening,
    closing: amounts.closing,
    lines: rows.map(({ amountMicros: _, ...row }, index) => ({ ...row, amount: amounts.lines[index] ?? "" })),
    tax: taxOf(statement),
  };
}

/** A price of few cents keeps its digits. */
function unitText(micros: bigint, currency: string): string {
  const [whole = "", fraction = ""] = amountOf(micros).split(".");
  const usual = inUnits(0n, currency).split(".")[1]?.length ?? 0;
  const decimals = fraction.padEnd(usual, "0");
  return decimals === "" ? whole : `${whole}.${decimals}`;
}

/** The rate is contained in the prices: of 119 at 19 % it is 19. */
function taxOf({ side, lines, currency, operator, party }: StatementToPrint): PrintedStatement["tax"] {
  const percent = operator?.taxPercent ?? null;
  if (side !== "advertiser" || percent === null || (party?.taxNote ?? null) !== null) return undefined;
  const spent = -lines
    .filter(({ kind }) => kind === "charge" || kind === "refund")
    .reduce((sum, { amountMicros }) => sum + BigInt(amountMicros), 0n);
  const [whole = "0", fraction = ""] = percent.split(".");
  const hundredths = BigInt(whole + fraction.padEnd(2, "0"));
  const contained = (spent * hundredths * 2n + 10_000n + hundredths) / (2n * (10_000n + hundredths));
  const name = operator?.taxName ?? null;
  return { spent: inUnits(spent, currency), contained: inUnits(contained, currency), percent, name };
}
