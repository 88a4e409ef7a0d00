import type { RewardEntry } from "./companion-api.ts";
import type { Promises } from "./earn-events.ts";
import type { Follower } from "./follow-rewards.ts";
import type { ListedEvent, Records } from "./read-records.ts";

const WORTH = { rewarded: 10, direct_link: 3 };

export interface Verdict {
  readonly lost: number;
  readonly paidTwice: number;
  /** One line for each fault, including lost and doubly paid events. */
  readonly faults: readonly string[];
}

/** Compares confirmed results with the ad service's events, the events with the ledger, and checks the ledger's consistency. */
export function compareRecords(promises: Promises, records: Records, followers: readonly Follower[]): Verdict {
  const lost = lossesOf(promises, records);
  const twice = doublesOf(records);
  const faults = [
    ...lost,
    ...twice,
    ...strayFaults(promises, records),
    ...amountFaults(records),
    ...spendFaults(promises, records),
    ...balanceFaults(records),
    ...statisticsFaults(records),
    ...followers.flatMap((follower, index) => followerFaults(`follower ${index + 1}`, follower, records)),
  ];
  return { lost: lost.length, paidTwice: twice.length, faults };
}

function lossesOf({ earned }: Promises, { events, entries }: Records): string[] {
  const made = new Set(events.map(keyOf));
  const recorded = new Set(entries.map(({ eventId }) => eventId));
  return [
    ...[...new Set(earned.map(keyOf))]
      .filter((key) => !made.has(key))
      .map((key) => `lost: ${key} was confirmed to a user, but there is no event`),
    ...events
      .filter(({ event_id: eventId }) => !recorded.has(eventId))
      .map(({ event_id: eventId, delivery }) => `lost: ${eventId} (${delivery}) is not in the ledger`),
  ];
}

function doublesOf({ events, entries }: Records): string[] {
  const ofEvents = entries.filter(({ eventId }) => eventId !== null);
  const paid = ofEvents.filter(({ amount }) => amount > 0);
  return [
    ...repeated(events, keyOf).map((key) => `created twice: ${key}`),
    ...repeated(ofEvents, ({ eventId }) => `${eventId}`).map((eventId) => `recorded twice: ${eventId}`),
    ...repeated(paid, ({ code }) => `${code}`).map((code) => `paid twice: the code ${code}`),
  ];
}

function strayFaults({ earned }: Promises, { events, entries }: Records): string[] {
  const promised = new Set(earned.map(keyOf));
  const known = new Set(events.map((event) => event.event_id));
  return [
    ...events.filter((event) => !promised.has(keyOf(event))).map((event) => `no user has earned ${event.event_id}`),
    ...entries
      .filter(({ eventId }) => eventId !== null && !known.has(eventId))
      .map(({ eventId }) => `the ledger has ${eventId}, which the ad service does not have`),
  ];
}

function amountFaults({ events, entries }: Records): string[] {
  const eventOf = new Map(events.map((event) => [event.event_id, event]));
  const isRight = (entry: RewardEntry, event: ListedEvent) =>
    entry.amount === WORTH[event.event] && entry.userId === event.user_tg_id && keyOf(entry) === keyOf(event);
  return entries.flatMap((entry) => {
    const event = entry.eventId === null ? undefined : eventOf.get(entry.eventId);
    return event === undefined || isRight(entry, event)
      ? []
      : [`${entry.eventId} was recorded as ${JSON.stringify(entry)}`];
  });
}

function spendFaults({ spent }: Promises, { entries }: Records): string[] {
  const notes = Map.groupBy(
    entries.filter(({ event }) => event === null),
    ({ reason }) => reason,
  );
  return spent.flatMap(({ note, outcome }) => {
    const found = notes.get(note)?.length ?? 0;
    return found === (outcome === "spent" ? 1 : 0) ? [] : [`${note} was ${outcome}, but has ${found} entries`];
  });
}

function balanceFaults({ entries, balances }: Records): string[] {
  const sums = new Map<string, number>();
  const faults: string[] = [];
  // A user's balance changes in the order of these ids, because each id is assigned while the balance's row is locked.
  const inOrder = entries.toSorted((one, other) => Number(one.entryId) - Number(other.entryId));
  for (const { userId, amount, balance, entryId } of inOrder) {
    const sum = (sums.get(userId) ?? 0) + amount;
    sums.set(userId, sum);
    const isRight = sum >= 0 && (amount === 0 || balance === sum);
    if (!isRight)
      faults.push(`entry ${entryId} has the balance ${balance}, but the sum of the entries up to it is ${sum}`);
  }
  for (const [userId, sum] of sums) {
    const balance = balances.get(userId);
    if (balance !== sum) faults.push(`user ${userId} has the balance ${balance}, but the sum of the entries is ${sum}`);
  }
  return faults;
}

/** Statistics lag by a few seconds, and are then exact. */
function statisticsFaults({ events, counted }: Records): string[] {
  const made = (kind: ListedEvent["event"]) => events.filter(({ event }) => event === kind).length;
  const pairs = [
    { what: "rewards", made: made("rewarded"), counted: counted.rewards },
    { what: "clicks", made: made("direct_link"), counted: counted.clicks },
  ];
  return pairs
    .filter((pair) => pair.made !== pair.counted)
    .map((pair) => `the statistics have ${pair.counted} ${pair.what}, but there are ${pair.made} events`);
}

function followerFaults(name: string, { seen }: Follower, { entries }: Records): string[] {
  const missed = entries.filter(({ entryId }) => !seen.has(entryId));
  const again = [...seen].filter(([, times]) => times > 1);
  return [
    ...missed.map(({ entryId }) => `${name} missed entry ${entryId}`),
    ...again.map(([entryId, times]) => `${name} saw entry ${entryId} ${times} times`),
  ];
}

/** A code earns each kind of event once. */
function keyOf({ code, event }: { readonly code?: string | null; readonly event: string | null }): string {
  return `${event} of ${code}`;
}

function repeated<T>(items: readonly T[], keyOfItem: (item: T) => string): string[] {
  return [...Map.groupBy(items, keyOfItem)].filter(([, group]) => group.length > 1).map(([key]) => key);
}
