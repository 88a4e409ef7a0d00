import { suggest } from "./answer-message.ts";
import type { Reply } from "./chat-port.ts";
import type { Phrases } from "./phrases.ts";
import type { RecordedEntry } from "./rewards-port.ts";

/** The message that the bot sends about a new ledger entry; undefined if the user need not know. */
export function announceEntry(entry: RecordedEntry, phrases: Phrases): Reply | undefined {
  const { event, code } = entry;
  if (event === null) return undefined;
  if (event === "task" || event === "task_reversed") return announceTask(entry, event, phrases);
  const used = code === null ? {} : { used: { code, event } };
  if (entry.amount > 0) {
    return {
      text: phrases.rewarded(entry.amount, entry.balance ?? entry.amount, event),
      picture: "coins",
      suggestions: suggest(phrases, "/bonus", "/balance", "/buy"),
      ...used,
    };
  }
  // Tests, duplicates and rewards that the publisher set to zero need no message.
  const explained = entry.reason === null ? undefined : phrases.unpaid[entry.reason];
  return explained === undefined ? undefined : { text: explained, suggestions: suggest(phrases, "/bonus"), ...used };
}

function announceTask(
  { amount, balance }: RecordedEntry,
  event: "task" | "task_reversed",
  phrases: Phrases,
): Reply | undefined {
  if (amount === 0) return undefined;
  const suggestions = suggest(phrases, "/tasks", "/balance", "/buy");
  if (event === "task_reversed") return { text: phrases.takenBack(-amount, balance ?? 0), suggestions };
  return { text: phrases.rewarded(amount, balance ?? amount, event), picture: "coins", suggestions };
}
