import type { Dimension } from "@intermission/operator-api/report-figures";
import { describe, expect, test } from "vitest";
import { showStats, sparkline, statsAnswer } from "./commands.ts";
import { figuresOf as figuresOfSums, noSums } from "./figures-of.ts";
import { isReasoned, type Measure } from "./measures.ts";
import { statsCsv } from "./stats-csv.ts";

interface Sum {
  measure: Measure;
  reason: string;
  count: number;
  spendMicros: bigint;
  revenueMicros: bigint;
}

/** The figures of what was counted; all revenue of rewards is of views. */
function figuresOf(all: readonly Sum[]) {
  const { counts, ...money } = structuredClone(noSums);
  const reasons: Record<string, Record<string, number>> = {};
  for (const { measure, reason, count, spendMicros, revenueMicros } of all) {
    counts[measure] += count;
    money.spendMicros += spendMicros;
    money.revenueMicros += revenueMicros;
    if (measure === "rewards") money.viewRevenueMicros += revenueMicros;
    if (!isReasoned(measure)) continue;
    reasons[measure] = { ...reasons[measure], [reason]: (reasons[measure]?.[reason] ?? 0) + count };
  }
  return figuresOfSums({ counts, ...money }, reasons);
}

const sum = (measure: Measure, count: number, money = 0, reason = ""): Sum => ({
  measure,
  reason,
  count,
  spendMicros: BigInt(money * 2),
  revenueMicros: BigInt(money),
});
const busy = [
  sum("fills", 9),
  sum("no-fills", 1, 0, "no-campaign"),
  sum("starts", 8),
  sum("completions", 6),
  sum("rewards", 6, 15_000),
  sum("clicks", 2, 3000),
  sum("clicks-refused", 5, 0, "machine-crawler"),
  sum("limited", 3, 0, "cooldown"),
  sum("taps", 3),
  sum("playback-faults", 2, 0, "not-found"),
];
const answer = statsAnswer.parse({
  currency: "USD",
  by: "day",
  from: "2026-03-01T00:00:00.000Z",
  to: "2026-03-03T00:00:00.000Z",
  countedUntil: "2026-03-02T23:59:58.000Z",
  rows: [
    { key: "2026-03-01", ...figuresOf(busy) },
    { key: "2026-03-02", ...figuresOf([]) },
  ],
  total: figuresOf(busy),
  deliveries: { delivered: 7, underWay: 0, failed: 1, successRate: 0.875 },
});

describe("statistics on the command line", () => {
  test("the text shows a table with totals, sparklines, and the counts by reason", () => {
    const lines = showStats(answer).split("\n");
    expect(lines).toContain(
      "2026-03-01  10        90.0 %  8       75.0 %   6        37.5 %  2       5        0.0360     0.0180       1.8750",
    );
    expect(lines).toContain(
      "2026-03-02  0         –       0       –        0        –       0       0        0.0000     0.0000       –",
    );
    expect(lines).toContain("rewards  █ ");
    expect(lines).toContain("limited: cooldown 3");
    expect(lines).toContain("clicks refused: machine-crawler 5");
    expect(lines).toContain("playback faults: not-found 2");
    expect(lines).toContain("taps on calls to action: 3");
    expect(lines).toContain("webhooks: 7 delivered (87.5 %), 0 under way, 1 failed");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  test("large numbers and long names stay within 120 columns", () => {
    const large = figuresOf(busy.map((one) => ({ ...one, count: one.count * 1e6, revenueMicros: 123_456_789_012n })));
    for (const [by, key] of Object.entries({ campaign: "cmp_8fJ2kLm4Qr9T", bot: "7000000001" })) {
      const rows = [{ key, name: "Spring sale of everything that is left", ...large }];
      const shown = showStats(statsAnswer.parse({ ...answer, by, rows, total: large })).split("\n");
      expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(120);
    }
  });

  /** The amounts of a column, without their point, so that adding them is exact. */
  const amountsIn = (shown: string, column: "SPEND" | "REVENUE") => {
    const [head = "", ...lines] = shown.split("\n\n")[1]?.split("\n") ?? [];
    const start = head.indexOf(column);
    return lines.map((line) => BigInt((line.slice(start).split(" ")[0] ?? "").replace(".", "")));
  };
  test.each<[string, [spend: bigint, revenue: bigint][]]>([
    [
      "thirds of the last decimal",
      [
        [33n, 10n],
        [33n, 10n],
        [34n, 11n],
      ],
    ],
    [
      "halves of the last decimal",
      [
        [50n, 35n],
        [50n, 35n],
        [50n, 35n],
        [50n, 35n],
        [50n, 35n],
      ],
    ],
    [
      "refunds",
      [
        [-50n, -35n],
        [149n, 104n],
        [-149n, -104n],
        [1n, 0n],
      ],
    ],
    [
      "nothing",
      [
        [0n, 0n],
        [0n, 0n],
      ],
    ],
    [
      "large amounts",
      Array.from({ length: 31 }, (_, day): [bigint, bigint] => [2_345_678_905n + BigInt(day), 1_641_975_233n]),
    ],
    [
      "amounts beyond 2^53",
      Array.from({ length: 9 }, (_, day): [bigint, bigint] => [
        12_345_678_901_500_003n + BigInt(day),
        8_641_975_230_700_001n,
      ]),
    ],
  ])("the lines of %s add up to the total that is shown", (_what, moneyOfDays) => {
    const sums = moneyOfDays.map(
      ([spendMicros, revenueMicros]): Sum => ({
        measure: "rewards",
        reason: "",
        count: 1,
        spendMicros,
        revenueMicros,
      }),
    );
    const rows = sums.map((one, day) => ({ key: `2026-03-${String(day + 1).padStart(2, "0")}`, ...figuresOf([one]) }));
    const shown = showStats(statsAnswer.parse({ ...answer, rows, total: figuresOf(sums) }));
    for (const column of ["SPEND", "REVENUE"] as const) {
      const amounts = amountsIn(shown, column);
      expect(amounts).toHaveLength(rows.length + 1);
      expect(amounts.slice(0, -1).reduce((sum, one) => sum + one, 0n)).toBe(amounts.at(-1));
    }
    expect(Math.max(...shown.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  const csv = (by: Dimension[], rows: { keys: object; names?: object; figures?: typeof busy }[]) =>
    statsCsv({
      by,
      currency: "USD",
      rows: rows.map(({ keys, names = {}, figures = [] }) => ({ keys, names, figures: figuresOf(figures) })),
      total: figuresOf(rows.flatMap(({ figures = [] }) => figures)),
    }).replace(/^\uFEFF/, "");

  test("CSV of a report without rows has its columns, and each line ends with CR and LF", () => {
    const [head, ...lines] = csv(["day"], []).split("\r\n");
    expect(lines).toEqual([""]);
    expect(head?.split(",")).toEqual(expect.arrayContaining(["key", "requests", "noFillCount", "spend", "ecpm"]));
    expect(csv(["day", "bot"], []).split(",").slice(0, 2)).toEqual(["day", "bot"]);
  });

  test("CSV has no text that a spreadsheet would evaluate", () => {
    const keys = { campaign: "cmp_1" };
    expect(csv(["campaign"], [{ keys, names: { campaign: "=1+1" } }])).toContain("cmp_1,'=1+1,");
  });

  test("CSV has a column for each reason, and negative amounts as numbers", () => {
    const refund = [sum("refunds", 1, -10_000, "rewarded")];
    const [columns, ...values] = csv(
      ["day"],
      [
        { keys: { day: "2026-03-01" }, figures: busy },
        { keys: { day: "2026-03-02" }, figures: refund },
      ],
    )
      .split("\r\n")
      .map((line) => line.split(","));
    const valuesOf = (name: string) => values.slice(0, 2).map((line) => line[columns?.indexOf(name) ?? -1]);
    expect(valuesOf("key")).toEqual(["2026-03-01", "2026-03-02"]);
    expect(valuesOf("clicksRefused.machine-crawler")).toEqual(["5", "0"]);
    expect([valuesOf("taps"), valuesOf("tapRate")]).toEqual([
      ["3", "0"],
      ["0.375", ""],
    ]);
    expect([valuesOf("spend")[1], valuesOf("spendMicros")[1]]).toEqual(["-0.02", "-20000"]);
  });

  test("a sparkline shows the smallest value as a bar and zero as a blank", () => {
    expect(sparkline([0, 1, 50, 100])).toBe(" ▁▅█");
    expect(sparkline([0, 0])).toBe("  ");
  });
});
