import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Payout } from "../bots/bot-records.ts";
import { migrations } from "../migrations.ts";
import { listReceipts } from "./list-receipts.ts";
import type { EventLine } from "./record-events.ts";
import { recordBatch, recordEvents } from "./record-events.ts";

const botId = "7000000001";
const payout: Payout = { rewarded: 10, directLink: 3, task: 5, dailyCap: undefined, perCode: "once" };
let made = 0;

function line(changes: Partial<EventLine> = {}): EventLine {
  made += 1;
  return {
    eventId: `evt_${String(made).padStart(8, "0")}`,
    event: "rewarded",
    userId: "42",
    code: `code${made}`,
    reference: null,
    startParam: null,
    revenue: null,
    occurredAt: "2026-03-01T10:00:00.000Z",
    isTest: false,
    rawBody: "{}",
    signatureHeader: "sha256=00",
    ...changes,
  };
}

describe("recording events", () => {
  let test_: TestDatabase;
  beforeAll(async () => {
    test_ = await openTestDatabase({ schema: "api", migrations });
  });
  afterAll(() => test_.dispose());

  const record = (lines: EventLine[], changes: Partial<Payout> = {}) =>
    recordEvents(test_.database, botId, { ...payout, ...changes }, lines);
  const recorded = async (lines: EventLine[]) => {
    const text = "select event_id, amount, reason from ledger_entries where event_id = any($1::text[])";
    const ids = lines.map(({ eventId }) => eventId);
    const entries = await rows<{ event_id: string; amount: number; reason: string | null }>(text, [ids]);
    return new Map(entries.map((entry) => [entry.event_id, entry.reason ?? entry.amount]));
  };
  const outcomes = async (lines: EventLine[], changes: Partial<Payout> = {}) => {
    const before = await recorded(lines);
    await record(lines, changes);
    const after = await recorded(lines);
    return lines.map(({ eventId }) => (before.has(eventId) ? "nothing" : after.get(eventId)));
  };
  const receiptOf = async ({ eventId }: EventLine) => {
    const receipts = await listReceipts(test_.database, botId, { limit: 1000 });
    return receipts.find((receipt) => receipt.eventId === eventId);
  };
  const rows = async <Row>(text: string, values: unknown[] = []) =>
    test_.database.run<Row>({ name: `test-${text.length}-${text.slice(0, 40)}`, text }, values);

  test("an event pays once, whether it is repeated in one batch or in another", async () => {
    const event = line({ userId: "1" });
    expect(await outcomes([event, event])).toEqual([10, 10]);
    expect(await outcomes([event])).toEqual(["nothing"]);
    expect(await rows("select balance from balances where user_id = '1'")).toEqual([{ balance: 10 }]);
  });

  test("new events are counted and named by the reason why they pay nothing, and repeats are not counted", async () => {
    const lines = [line({ userId: "20" }), line({ userId: "21" }), line({ userId: "22", isTest: true })];
    const counts = (await record(lines)).toSorted((a, b) => a.events - b.events);
    expect(counts).toEqual([
      { reason: "test", events: 1, eventIds: [lines[2]?.eventId] },
      { reason: null, events: 2, eventIds: [lines[0]?.eventId, lines[1]?.eventId] },
    ]);
    expect(await record(lines)).toEqual([]);
  });

  test("each repeat is counted on the receipt with its time, however it arrived", async () => {
    const event = line({ userId: "23" });
    await record([event]);
    expect(await receiptOf(event)).toMatchObject({ duplicates: 0, lastDuplicateAt: null });
    await record([event, event]);
    await record([event]);
    expect(await receiptOf(event)).toMatchObject({ duplicates: 3, lastDuplicateAt: expect.any(String) });
    const together = line({ userId: "24" });
    await record([together, together, together]);
    expect(await receiptOf(together)).toMatchObject({ duplicates: 2, lastDuplicateAt: expect.any(String) });
  });

  test("a webhook after its reconciliation adds the bytes and is no repeat; one before it is not counted again", async () => {
    const event = line({ userId: "25", rawBody: '{"a":1}' });
    const listed = { ...event, rawBody: null, signatureHeader: null };
    await record([listed]);
    await record([event]);
    expect(await receiptOf(event)).toMatchObject({ duplicates: 0, lastDuplicateAt: null, rawBody: '{"a":1}' });
    await record([listed]);
    expect(await receiptOf(event)).toMatchObject({ duplicates: 0, lastDuplicateAt: null, rawBody: '{"a":1}' });
  });

  test("a code pays for its first event only; the link after the view is recorded as zero with the reason", async () => {
    const view = line({ userId: "2" });
    const link = line({ userId: "2", code: view.code, event: "direct_link" });
    expect(await outcomes([view])).toEqual([10]);
    expect(await outcomes([link])).toEqual(["code-already-paid"]);
  });

  test("two events of one code in one batch pay once", async () => {
    const link = line({ userId: "3", event: "direct_link" });
    const view = line({ userId: "3", code: link.code });
    expect(await outcomes([link, view])).toEqual([3, "code-already-paid"]);
  });

  test("with PAY_PER_CODE=each both kinds pay, and each of them once", async () => {
    const view = line({ userId: "4" });
    const link = line({ userId: "4", code: view.code, event: "direct_link" });
    const again = line({ userId: "4", code: view.code });
    expect(await outcomes([view, link, again], { perCode: "each" })).toEqual([10, 3, "event-already-recorded"]);
  });

  test("a kind of event that is worth nothing does not use up the code", async () => {
    const link = line({ userId: "5", event: "direct_link" });
    const view = line({ userId: "5", code: link.code });
    expect(await outcomes([link, view], { directLink: 0 })).toEqual(["no-reward", 10]);
  });

  test("a view that let its user into a channel earns no coins as well", async () => {
    const place = line({ userId: "5", reference: "join:-1001234567890" });
    const coins = line({ userId: "5", reference: "join us" });
    expect(await outcomes([place, coins])).toEqual(["no-reward", 10]);
  });

  test("a test event pays nothing and leaves the code for the real one", async () => {
    const rehearsal = line({ userId: "6", isTest: true });
    const real = line({ userId: "6", code: rehearsal.code });
    expect(await outcomes([rehearsal, real])).toEqual(["test", 10]);
  });

  test("an event for another user than the code's is recorded as zero and does not affect the right user", async () => {
    const code = "shared1";
    await rows("insert into codes (bot_id, code, user_id, issued_at, expires_at) values ($1, $2, '7', now(), now())", [
      botId,
      code,
    ]);
    const wrong = line({ userId: "8", code });
    const right = line({ userId: "7", code });
    expect(await outcomes([wrong, right])).toEqual(["code-of-another-user", 10]);
  });

  test("the daily cap counts within one batch and over batches, per user and UTC day", async () => {
    const on = (occurredAt: string, userId = "9") => line({ userId, occurredAt });
    const day = "2026-03-01T23:59:59Z";
    const capped = (lines: EventLine[]) => outcomes(lines, { dailyCap: 2 });
    expect(await capped([on(day)])).toEqual([10]);
    expect(await capped([on(day), on(day), on(day, "10")])).toEqual([10, "daily-cap", 10]);
    expect(await capped([on("2026-03-02T00:00:00Z")])).toEqual([10]);
  });

  test("tasks do not count for the daily cap, and neither pays nor takes a test of one", async () => {
    const task = line({ userId: "12", event: "task" });
    const [view, other] = [line({ userId: "12" }), line({ userId: "12" })];
    expect(await outcomes([task, view, other], { dailyCap: 1 })).toEqual([5, 10, "daily-cap"]);
    const test = line({ userId: "12", event: "task_reversed", code: task.code, isTest: true });
    const reversal = line({ userId: "12", event: "task_reversed", code: task.code });
    const second = line({ userId: "12", event: "task_reversed", code: task.code });
    expect(await outcomes([test])).toEqual(["test"]);
    expect(await outcomes([reversal])).toEqual([-5]);
    expect(await outcomes([second])).toEqual(["event-already-recorded"]);
    expect(await receiptOf(reversal)).toMatchObject({ outcome: "reversed", amount: -5, reason: null });
  });

  test("the reversal of another user's task takes nothing", async () => {
    const task = line({ userId: "13", event: "task" });
    const foreign = line({ userId: "14", event: "task_reversed", code: task.code });
    expect(await outcomes([task, foreign])).toEqual([5, "code-of-another-user"]);
  });

  test("in a batch of one user each entry has its own balance", async () => {
    await record([line({ userId: "11" }), line({ userId: "11", event: "direct_link" }), line({ userId: "11" })]);
    const kept = await rows<{ balance_after: number }>(
      "select balance_after from ledger_entries where user_id = '11' order by entry_id",
    );
    expect(kept.map((row) => row.balance_after)).toEqual([10, 13, 23]);
  });

  test("under parallel batches caps hold, codes pay once, and balances equal the sums", async () => {
    const codes = Array.from({ length: 40 }, (_, index) => `parallel${index}`);
    const lines = codes.flatMap((code, index) => {
      const userId = String(100 + (index % 4));
      return [line({ code, userId }), line({ code, userId, event: "direct_link" })];
    });
    const batches = Array.from({ length: 16 }, (_, index) => {
      const shift = (index * 7) % lines.length;
      return [...lines.slice(shift), ...lines.slice(0, shift)].filter((_each, place) => place % 3 !== index % 3);
    });
    await Promise.all(batches.map((batch) => record(batch, { dailyCap: 7 })));
    const paid = await rows<{ user_id: string; paid: number }>(
      "select user_id, count(*) as paid from ledger_entries where code like 'parallel%' and amount > 0 group by user_id order by 1",
    );
    expect(paid).toEqual(["100", "101", "102", "103"].map((user_id) => ({ user_id, paid: 7 })));
    const paidTwice = await rows(
      "select code from ledger_entries where code like 'parallel%' and amount > 0 group by code having count(*) > 1",
    );
    expect(paidTwice).toEqual([]);
    expect(
      await rows(
        `select user_id from balances full join (select user_id, sum(amount) as total from ledger_entries group by user_id) sums
          using (user_id) where balance is distinct from coalesce(total, 0) and coalesce(total, 0) <> 0`,
      ),
    ).toEqual([]);
  });

  test.each([
    ["the same user", "31", "31", "code-already-paid"],
    ["another user", "32", "33", "code-of-another-user"],
  ])("an event sees another node's concurrent entries of its code, for %s", async (_name, one, other, reason) => {
    const view = line({ userId: one });
    const link = line({ userId: other, code: view.code, event: "direct_link" });
    let recording = Promise.resolve<unknown>(undefined);
    await test_.database.transaction(async (tx) => {
      await recordBatch(tx, botId, payout, [{ line: view, repeats: 0 }]);
      recording = outcomes([link]);
      const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      await expect.poll(() => rows(waiting)).toHaveLength(1);
    });
    expect(await recording).toEqual([reason]);
    expect(await rows("select balance from balances where user_id = $1", [other])).toEqual(
      one === other ? [{ balance: 10 }] : [],
    );
  });

  test("the ledger rejects changes", async () => {
    await expect(rows("update ledger_entries set amount = 1000")).rejects.toThrow("append-only");
    await expect(rows("delete from ledger_entries")).rejects.toThrow("append-only");
  });
});
