import type { EarningsMonth } from "@intermission/operator-api/publisher-money";

export interface Payouts {
  /** The latest month that is paid, with when and how. */
  last: { month: string; paidAt: Date; reference: string | null } | undefined;
  /** What the next payout pays: the months that are over and not paid; undefined: there is none. */
  next: { until: string; amountMicros: number } | undefined;
}

/** The last and the next payout of months that are listed the latest first. */
export function payoutsOf(months: readonly EarningsMonth[], now: Date): Payouts {
  const running = now.toISOString().slice(0, 7);
  const paid = months.find(({ paidAt }) => paidAt !== null);
  const due = months.filter(({ month, paidAt }) => paidAt === null && month < running);
  const [latest] = due;
  return {
    last:
      paid === undefined || paid.paidAt === null
        ? undefined
        : { month: paid.month, paidAt: paid.paidAt, reference: paid.reference },
    next:
      latest === undefined
        ? undefined
        : { until: latest.month, amountMicros: due.reduce((sum, { earnedMicros }) => sum + earnedMicros, 0) },
  };
}
