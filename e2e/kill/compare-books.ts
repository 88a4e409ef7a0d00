import type { RewardEntry } from "./companion-api.ts";
import type { Promises } from "./earn-events.ts";
import type { Follower } from "./follow-rewards.ts";
import type { Books, ListedEvent } from "./read-books.ts";

const WORTH = { rewarded: 10, direct_link: 3 };

export interface Verdict {
  readonly lost: number;
  readonly paidTwice: number;
  /** One line for each thing that is wrong, the lost and the twice paid included. */
  readonly faults: readonly string[];
}

/** Holds what people were told against the ad service's events, those against the ledger, and the ledger against itself. */
export function compareBooks(promises: Promises, books: Books, followers: readonly Follower[]): Verdict {
  const { events } = books;
  const entriesOf = groupedBy(books.entries, ({ eventId }) => eventId ?? undefined);
  const told = new Set(promises.earned.map(keyOf));
  const eventsOf = groupedBy(events, keyOf);

  const untold = [...told].filter((key) => !eventsOf.has(key));
  const unbooked = events.filter(({ event_id }) => !entriesOf.has(event_id));
  const twiceMade = [...eventsOf].filter(([, made]) => made.length > 1);
  const twiceBooked = [...entriesOf].filter(([, entries]) => entries.length > 1);
  const faults = [
    ...untold.map((key) => `lost: somebody was told to have earned ${key}, and there is no event`),
    ...unbooked.map(({ event_id, delivery }) => `lost: ${event_id} (${delivery}) is not in the ledger`),
    ...twiceMade.map(([key, made]) => `paid twice: ${key} made the events ${made.map((one) => one.event_id)}`),
    ...twiceBooked.map(([eventId, entries]) => `paid twice: ${eventId} has ${entries.length} entries in the ledger`),
    ...events.filter((event) => !told.has(keyOf(event))).map((event) => `nobody earned ${event.event_id}`),
    ...events.flatMap((event) => entryFaults(event, entriesOf.get(event.event_id)?.[0])),
    ...strayEntries(books),
    ...spendFaults(promises, books),
    ...balanceFaults(books),
    ...followers.flatMap((follower, index) => followerFaults(`follower ${index + 1}`, follower, books)),
  ];
  return { lost: untold.length + unbooked.length, paidTwice: twiceMade.length + twiceBooked.length, faults };
}

function keyOf(earned: { code?: string; event: string }): string {
  return `${earned.event} of ${earned.code}`;
}

function entryFaults(event: ListedEvent, entry: RewardEntry | undefined): string[] {
  if (entry === undefined) return [];
  const isRight =
    entry.amount === WORTH[event.event] &&
    entry.event === event.event &&
    entry.userId === event.user_tg_id &&
    entry.code === event.code;
  return isRight ? [] : [`${event.event_id} was booked as ${JSON.stringify(entry)}`];
}

function strayEntries({ events, entries }: Books): string[] {
  const known = new Set(events.map((event) => event.event_id));
  const strays = entries.filter(({ eventId }) => eventId !== null && !known.has(eventId));
  return strays.map(({ eventId }) => `the ledger has ${eventId}, which the ad service does not know`);
}

function spendFaults({ spent }: Promises, { entries }: Books): string[] {
  const spends = groupedBy(
    entries.filter(({ event }) => event === null),
    ({ reason }) => reason ?? "",
  );
  return spent.flatMap(({ note, outcome }) => {
    const found = spends.get(note)?.length ?? 0;
    return found === (outcome === "spent" ? 1 : 0) ? [] : [`${note} was ${outcome}, and has ${found} entries`];
  });
}

function balanceFaults({ entries, balances }: Books): string[] {
  const sums = new Map<string, number>();
  const faults: string[] = [];
  // A user's balance changes in the order of these ids: each is drawn while the balance's row is locked.
  const inOrder = entries.toSorted((one, other) => Number(one.entryId) - Number(other.entryId));
  for (const { userId, amount, balance, entryId } of inOrder) {
    const sum = (sums.get(userId) ?? 0) + amount;
    sums.set(userId, sum);
    if (sum < 0) faults.push(`the balance of ${userId} was ${sum} after entry ${entryId}`);
    if (amount !== 0 && balance !== sum)
      faults.push(`entry ${entryId} says ${balance}, and the entries sum up to ${sum}`);
  }
  for (const [userId, sum] of sums) {
    const balance = balances.get(userId);
    if (balance !== sum) faults.push(`user ${userId} has ${balance}, and the entries sum up to ${sum}`);
  }
  return faults;
}

function followerFaults(name: string, { seen }: Follower, { entries }: Books): string[] {
  const missed = entries.filter(({ entryId }) => !seen.has(entryId));
  const repeated = [...seen].filter(([, { times }]) => times > 1);
  return [
    ...missed.map(({ entryId }) => `${name} missed entry ${entryId}`),
    ...repeated.map(([entryId, { times }]) => `${name} saw entry ${entryId} ${times} times`),
  ];
}

function groupedBy<T, Key>(items: readonly T[], keyOfItem: (item: T) => Key | undefined): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
