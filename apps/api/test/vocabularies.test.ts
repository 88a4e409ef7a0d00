import type { PayPerCode } from "@intermission/ad-core/client-words";
import type { LedgerEventType } from "@intermission/ad-core/event-words";
import { checkedWords } from "@intermission/testing/checked-words";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import type { BotSettings } from "../src/bots/bot-records.ts";
import { migrations } from "../src/migrations.ts";

/** The compiler refuses a table that lacks a member of its union. */
type Words<Union extends string> = Record<Union, true>;

const eventTypes = {
  rewarded: true,
  direct_link: true,
  task: true,
  task_reversed: true,
} satisfies Words<LedgerEventType>;
/** The words that TypeScript knows, for each column that a check constraint limits to a list of words. */
const vocabularies: Readonly<Record<string, Words<string>>> = {
  "bots.pay_per_code": { once: true, each: true } satisfies Words<PayPerCode> & Words<BotSettings["payPerCode"]>,
  "bots.two_field_events": { off: true, match: true } satisfies Words<BotSettings["twoFieldEvents"]>,
  "ledger_entries.event": eventTypes,
  "receipts.event": eventTypes,
};

test("each column that takes one of several words accepts the members of its union, and no others", async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const checked = await checkedWords(store.database, "api").finally(() => store.dispose());
  const known = Object.entries(vocabularies).map(([column, words]) => [column, Object.keys(words).toSorted()]);
  expect(checked).toEqual(Object.fromEntries(known));
});
