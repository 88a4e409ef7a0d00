import type { Payout } from "../webhook-intake/schema.ts";
import type { SpendOutcome } from "./schema.ts";

/** What tests compare the ledger with: the same rules in memory, one step after the other. */

export interface ModelEvent {
  eventId: string;
  event: "rewarded" | "direct_link";
  userId: string;
  code: string | null;
  isTest: boolean;
}

interface ModelCode {
  userId: string;
  issued: number | undefined;
  earned: Set<ModelEvent["event"]>;
  isPaid: boolean;
}

export class LedgerModel {
  /** Every event that was booked, and what it paid. */
  readonly amounts = new Map<string, number>();
  readonly balances = new Map<string, number>();
  readonly #codes = new Map<string, ModelCode>();
  readonly #spent = new Map<string, { amount: number; balance: number }>();
  readonly #twoField = new Set<string>();
  readonly #payout: Payout;
  #issued = 0;

  constructor(payout: Payout) {
    this.#payout = payout;
  }

  balanceOf(userId: string): number {
    return this.balances.get(userId) ?? 0;
  }

  issue(code: string, userId: string): void {
    const kept = this.#codeOf(code, userId);
    kept.issued ??= ++this.#issued;
  }

  receive({ eventId, event, userId, code, isTest }: ModelEvent): void {
    if (this.amounts.has(eventId)) return;
    let amount = event === "rewarded" ? this.#payout.rewarded : this.#payout.directLink;
    if (isTest) amount = 0;
    else if (code !== null) {
      const kept = this.#codeOf(code, userId);
      if (kept.userId !== userId || kept.isPaid) amount = 0;
      if (kept.userId === userId) {
        kept.earned.add(event);
        kept.isPaid = true;
      }
    }
    this.amounts.set(eventId, amount);
    this.balances.set(userId, this.balanceOf(userId) + amount);
  }

  /** An event of two fields: one of each kind and user within the cooldown, on the oldest code that has not earned it. */
  receiveTwoField(event: ModelEvent["event"], userId: string): void {
    if (this.#twoField.has(`${userId} ${event}`)) return;
    const [open] = [...this.#codes]
      .filter(([, code]) => code.userId === userId && code.issued !== undefined && !code.earned.has(event))
      .sort(([, a], [, b]) => (a.issued ?? 0) - (b.issued ?? 0));
    if (!open) return;
    this.#twoField.add(`${userId} ${event}`);
    this.receive({ eventId: `two-field ${userId} ${event}`, event, userId, code: open[0], isTest: false });
  }

  spend(userId: string, amount: number, key: string): Pick<SpendOutcome, "outcome"> & { balance?: number } {
    const earlier = this.#spent.get(`${userId} ${key}`);
    if (earlier)
      return earlier.amount === amount ? { outcome: "spent", balance: earlier.balance } : { outcome: "conflict" };
    const balance = this.balanceOf(userId) - amount;
    if (balance < 0) return { outcome: "insufficient", balance: this.balanceOf(userId) };
    this.balances.set(userId, balance);
    this.#spent.set(`${userId} ${key}`, { amount, balance });
    return { outcome: "spent", balance };
  }

  #codeOf(code: string, userId: string): ModelCode {
    const known = this.#codes.get(code);
    if (known) return known;
    const made: ModelCode = { userId, issued: undefined, earned: new Set(), isPaid: false };
    this.#codes.set(code, made);
    return made;
  }
}
