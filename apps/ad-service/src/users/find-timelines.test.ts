import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let bots: string[];
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  bots = [(await fixture.newBot()).botId, (await fixture.newBot()).botId].sort();
  const run = (text: string) => store.database.run({ name: "", text: text.replaceAll("$bot", `'${bots[0]}'`) }, []);
  await run(`insert into codes values ($bot, '4Yabcdefghijkmnpqr', '501', '', now(), now())`);
  await run(`insert into current_codes values ('${bots[1]}', '501', '', '4Yzzzzefghijkmnpqr', now(), now())`);
  await run(`insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline,
      token_hash, state) values ($bot, $bot || '-4Yview', '4Yabcdefghijkmnpqr', '501', 'cmp_1', 'cre_1', 10000, now(), now(), '\\x00', 'opened')`);
  await run(`insert into cta_clicks (bot_id, view_id, click_id, user_id, campaign_id, creative_id, occurred_at, opened_at)
    values ($bot, $bot || '-4Yview', 'clk_button', '501', 'cmp_1', 'cre_1', now(), now())`);
  await run(`insert into withheld_clicks (click_id, bot_id, code, user_id, outcome, occurred_at)
    values ('clk_held', $bot, '4Yabcdefghijkmnpqr', '501', 'held', now())`);
  await run(`insert into events (event_id, bot_id, event, user_id, code, occurred_at, is_erased)
    values ('evt_paid', $bot, 'direct_link', '502', '4Ypaidefghijkmnpqr', now(), false),
      ('evt_erased', $bot, 'rewarded', '503', null, now(), true)`);
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function find(text: string): Promise<unknown> {
  const answer = await fetch(`${fixture.address}/operator/v1/timelines?${new URLSearchParams({ text })}`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  return ((await answer.json()) as { found?: unknown }).found;
}

test("any id of a user, a code, a view, a click or an event leads to its bot, user and code", async () => {
  const [first = "", second = ""] = bots;
  const user = { kind: "user", userId: "501", code: null };
  expect(await find(" 501 ")).toEqual([
    { ...user, botId: first },
    { ...user, botId: second },
  ]);
  const code = { botId: first, userId: "501", code: "4Yabcdefghijkmnpqr" };
  expect(await find("4Yabcdefghijkmnpqr")).toEqual([{ ...code, kind: "code" }]);
  expect(await find(`${first}-4Yview`)).toEqual([{ ...code, kind: "view" }]);
  expect(await find("clk_button")).toEqual([{ ...code, kind: "click" }]);
  expect(await find("clk_held")).toEqual([{ ...code, kind: "click" }]);
  const paid = { botId: first, userId: "502", code: "4Ypaidefghijkmnpqr" };
  expect(await find("clk_paid")).toEqual([{ ...paid, kind: "click" }]);
  expect(await find("evt_paid")).toEqual([{ ...paid, kind: "event" }]);
});

test("a text that is no id, or of which nothing is stored, finds nothing; an erased user is not found by an event", async () => {
  for (const text of [
    "Ann",
    "0",
    "599",
    "zzzzzzzzzzzzzzzzzz",
    "evt_",
    "clk_none",
    "'; drop table codes; --",
    "evt_erased",
  ])
    expect(await find(text), text).toEqual([]);
  expect(await find("503")).toEqual([]);
});
