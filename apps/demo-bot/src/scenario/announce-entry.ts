import { suggest } from "./answer-message.ts";
import type { Reply } from "./chat-port.ts";
import type { Phrases } from "./phrases.ts";
import type { RecordedEntry } from "./rewards-port.ts";

/** What the bot says by itself about a new line of the ledger, if it is worth a word. */
export function announceEntry(entry: RecordedEntry, phrases: Phrases): Reply | undefined {
  if (entry.event === null) return undefined;
  if (entry.amount > 0) {
    return {
      text: phrases.rewarded(entry.amount, entry.balance ?? entry.amount, entry.event),
      picture: "coins",
      suggestions: suggest(phrases, "/bonus", "/balance", "/buy"),
    };
  }
  // Tests, repeats and rewards that the publisher set to zero are nothing that the user waits for.
  const explained = entry.reason === null ? undefined : phrases.unpaid[entry.reason];
  return explained === undefined ? undefined : { text: explained, suggestions: suggest(phrases, "/bonus") };
}
