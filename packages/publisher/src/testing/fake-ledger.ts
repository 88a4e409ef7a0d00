import { randomBytes } from "node:crypto";
import { CODE_RANDOM_BYTES, newCode, newEventId, telegramIdPattern } from "@intermission/ad-core/code";
import type { CreateCodeOutcome, RewardEntry, RewardPage, SpendOutcome } from "../create-companion.ts";

/** What an event pays, as the companion API's REWARD_REWARDED, REWARD_DIRECT_LINK and REWARD_TASK. */
export interface FakeRewards {
  readonly rewarded: number;
  readonly direct_link: number;
  readonly task: number;
}

interface IssuedCode {
  readonly code: string;
  readonly userId: string;
  readonly reference: string | null;
  readonly expiresAt: Date;
}

/** A refusal, by tRPC's code. */
export class Refused extends Error {
  readonly code: RefusalCode;
  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type RefusalCode = "BAD_REQUEST" | "UNAUTHORIZED" | "NOT_FOUND" | "METHOD_NOT_SUPPORTED";
type Input = Readonly<Record<string, unknown>>;
type NewEntry = Omit<RewardEntry, "entryId" | "recordedAt">;

const LIFETIME_MS = 3_600_000;
const MAX_AMOUNT = 1_000_000_000;
const noEvent = { event: null, code: null, reference: null, startParam: null, eventId: null };

/** The ledger of one bot in memory, by the rules of the companion API: a code pays once, a spend once for each key. */
export class FakeLedger {
  readonly #rewards: FakeRewards;
  readonly #now: () => Date;
  readonly #codes = new Map<string, IssuedCode>();
  readonly #spends = new Map<string, RewardEntry>();
  readonly #waiting = new Set<() => void>();
  /** In commit order. The cursor of an entry is its number. */
  readonly entries: RewardEntry[] = [];
  readonly botId: string;

  constructor({ rewards, now, botId }: { rewards: FakeRewards; now: () => Date; botId: string }) {
    this.#rewards = rewards;
    this.#now = now;
    this.botId = botId;
  }

  createCode(input: Input): CreateCodeOutcome {
    const userId = userIdOf(input.userId);
    const reference = input.reference === undefined ? null : textOf(input.reference, "reference", 128);
    const now = this.#now();
    const isOpen = (known: IssuedCode) =>
      known.userId === userId && known.reference === reference && known.expiresAt > now && !this.#entryOf(known.code);
    const { code, expiresAt } = [...this.#codes.values()].find(isOpen) ?? this.#issue(userId, reference, now);
    return {
      outcome: "created",
      code,
      expiresInSeconds: Math.floor((expiresAt.getTime() - now.getTime()) / 1000),
      expiresAt: `${expiresAt.toISOString().slice(0, 19)}Z`,
      miniappUrl: `https://ads.test/app/${this.botId}?code=${code}`,
      startappLink: `https://t.me/test_bot/ads?startapp=${code}`,
      directLink: `https://ads.test/${code}`,
    };
  }

  #issue(userId: string, reference: string | null, now: Date): IssuedCode {
    const expiresAt = new Date(now.getTime() + LIFETIME_MS);
    const issued = { code: newCode("test", randomBytes(CODE_RANDOM_BYTES), now), userId, reference, expiresAt };
    this.#codes.set(issued.code, issued);
    return issued;
  }

  /** Undefined for a code that this ledger did not issue, and for an event that the code has earned. */
  earn(code: string, event: "rewarded" | "direct_link", startParam: string | null): RewardEntry | undefined {
    const issued = this.#codes.get(code);
    if (issued === undefined || this.entries.some((entry) => entry.code === code && entry.event === event)) return;
    const isPaid = this.entries.some((entry) => entry.code === code && entry.amount > 0);
    const { userId, reference } = issued;
    const amount = isPaid ? 0 : this.#rewards[event];
    const reason = isPaid ? "code-already-paid" : amount === 0 ? "no-reward" : null;
    const balance = reason === null ? this.balanceOf(userId) + amount : null;
    const eventId = newEventId(this.#now().getTime(), randomBytes(10));
    return this.#add({ userId, event, code, reference, startParam, eventId, amount, reason, balance });
  }

  /** Of a task's code, in any order, each once: a reversal takes what the task paid, and one that comes first keeps it unpaid. */
  earnTask(event: "task" | "task_reversed", userId: string, code: string): RewardEntry | undefined {
    const known = this.entries.filter((entry) => entry.code === code);
    if (known.some((entry) => entry.event === event)) return;
    const paid = known.find((entry) => entry.event === "task")?.amount ?? 0;
    const worth = event === "task" ? this.#rewards.task : -paid;
    const unpaid = event === "task" ? "no-reward" : "task-not-paid";
    const reason = known.length > 0 && event === "task" ? "task-reversed" : worth === 0 ? unpaid : null;
    const amount = reason === null ? worth : 0;
    const balance = reason === null ? this.balanceOf(userId) + amount : null;
    const eventId = newEventId(this.#now().getTime(), randomBytes(10));
    return this.#add({ ...noEvent, userId, event, code, eventId, amount, reason, balance });
  }

  /** As a test of the webhook is recorded. */
  addTest(): RewardEntry {
    const eventId = newEventId(this.#now().getTime(), randomBytes(10));
    const event = "rewarded" as const;
    return this.#add({ ...noEvent, userId: "0", event, eventId, amount: 0, reason: "test", balance: null });
  }

  spend(input: Input): SpendOutcome {
    const { amount } = input;
    const [userId, key] = [userIdOf(input.userId), textOf(input.idempotencyKey, "idempotencyKey", 128)];
    const note = input.note === undefined ? null : textOf(input.note, "note", 200);
    if (!(typeof amount === "number" && Number.isInteger(amount) && amount >= 1 && amount <= MAX_AMOUNT))
      throw new Refused("BAD_REQUEST", `amount: must be a whole number from 1 to ${MAX_AMOUNT}`);
    const place = JSON.stringify([userId, key]);
    const earlier = this.#spends.get(place);
    if (earlier)
      return earlier.amount === -amount
        ? { outcome: "spent", balance: earlier.balance ?? 0, entryId: earlier.entryId }
        : { outcome: "conflict" };
    const balance = this.balanceOf(userId) - amount;
    if (balance < 0) return { outcome: "insufficient", balance: balance + amount };
    const entry = this.#add({ ...noEvent, userId, amount: -amount, reason: note, balance });
    this.#spends.set(place, entry);
    return { outcome: "spent", balance, entryId: entry.entryId };
  }

  balanceOf(userId: string): number {
    return this.entries.reduce((sum, entry) => (entry.userId === userId ? sum + entry.amount : sum), 0);
  }

  balance(input: Input): { balance: number } {
    if (input.userId === undefined) throw new Refused("BAD_REQUEST", "name a userId");
    return { balance: this.balanceOf(userIdOf(input.userId)) };
  }

  status({ userId, code, event }: Input): object {
    if (userId === undefined && code === undefined) throw new Refused("BAD_REQUEST", "name a code or a userId");
    const user = userId === undefined ? undefined : userIdOf(userId);
    const found = this.entries.filter(
      (entry) =>
        entry.event !== null &&
        (user === undefined || entry.userId === user) &&
        (code === undefined || entry.code === code) &&
        (event === undefined || entry.event === event),
    );
    // A reversal takes precedence over what it takes back, and a code's paid event over its refused ones.
    const changes = found.find(({ amount }) => amount < 0) ?? found.find(({ amount }) => amount > 0) ?? found[0];
    const entry = code === undefined ? found.at(-1) : changes;
    if (entry === undefined) return { outcome: "not-yet" };
    const { amount, recordedAt, reason } = entry;
    const balance = this.balanceOf(entry.userId);
    if (reason !== null) return { outcome: "refused", reason, amount: 0, balance, recordedAt };
    return { outcome: amount < 0 ? "reversed" : "credited", amount, balance, event: entry.event, recordedAt };
  }

  list({ userId, cursor, limit = 20 }: Input): RewardPage {
    if (!(typeof limit === "number" && Number.isInteger(limit) && limit >= 1 && limit <= 100))
      throw new Refused("BAD_REQUEST", "limit: must be a whole number from 1 to 100");
    const before = cursor === undefined ? Number.POSITIVE_INFINITY : this.placeOf(cursor, "cursor");
    const user = userId === undefined ? undefined : userIdOf(userId);
    const found = this.entries
      .filter((entry) => (user === undefined || entry.userId === user) && Number(entry.entryId) < before)
      .reverse();
    const entries = found.slice(0, limit);
    return { entries, next: found.length > limit ? cursorOf(Number(entries.at(-1)?.entryId)) : null };
  }

  /** Entries behind `after`, then live, until the signal aborts. */
  async *watch(after: number, includeTests: boolean, signal: AbortSignal): AsyncGenerator<RewardEntry> {
    let next = after;
    while (!signal.aborted) {
      const entry = this.entries[next];
      if (entry === undefined) await this.#change(signal);
      else {
        next += 1;
        if (includeTests || entry.event === null || entry.reason !== "test") yield entry;
      }
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  placeOf(cursor: unknown, field: string): number {
    const place = Number(/^fake-(\d{1,9})$/.exec(String(cursor))?.[1] ?? Number.NaN);
    if (!(place <= this.entries.length)) throw new Refused("BAD_REQUEST", `${field}: is not a cursor of this ledger`);
    return place;
  }

  #entryOf(code: string): RewardEntry | undefined {
    return this.entries.find((entry) => entry.code === code);
  }

  #add(fields: NewEntry): RewardEntry {
    const entry = { entryId: String(this.entries.length + 1), ...fields, recordedAt: this.#now().toISOString() };
    this.entries.push(entry);
    for (const wake of [...this.#waiting]) wake();
    return entry;
  }
}

/** The place after so many entries. */
export function cursorOf(count: number): string {
  return `fake-${count}`;
}

function userIdOf(value: unknown): string {
  if (typeof value === "string" && telegramIdPattern.test(value)) return value;
  throw new Refused("BAD_REQUEST", "userId: must be a string of 1 to 20 digits, without leading zeros");
}

function textOf(value: unknown, field: string, maxLength: number): string {
  const isText = typeof value === "string" && value !== "" && value.length <= maxLength;
  if (isText && !/\p{Surrogate}|\0/u.test(value)) return value;
  throw new Refused("BAD_REQUEST", `${field}: must be text of 1 to ${maxLength} characters`);
}
