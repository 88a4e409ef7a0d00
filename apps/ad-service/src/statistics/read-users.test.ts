import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { insertBotsAndCampaigns, rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { migrations } from "../migrations.ts";
import { readUsers } from "./read-users.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
const run = (text: string) => store.database.run<Record<string, number>>({ name: "", text }, []);

/** Forty users, who come at any hour of five days, to one of two bots or both; and some who only click. */
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  fixture.clock.now = new Date("2026-03-20T12:00:00Z");
  await insertBotsAndCampaigns(store.database);
  await run("select setseed(0.34)");
  await run(`insert into ad_requests (bot_id, user_id, outcome, campaign_id, occurred_at)
    select (array['910', '911'])[1 + n % 2], (random() * 40)::integer::text, outcome, case outcome when 'filled' then 'cmp_a' end,
      timestamptz '2026-03-06T00:00Z' + random() * interval '5 days'
    from generate_series(1, 300) as n cross join lateral (
      select (array['filled', 'no-ad', 'limited', 'refused'])[1 + n % 4] as outcome) as outcomes`);
  await run(`insert into events (event_id, bot_id, event, user_id, code, campaign_id, price_micros, revenue_micros, occurred_at)
    select 'evt_' || left(hex, 8) || '-' || right(hex, 4) || '-7000-8000-' || lpad(n::text, 12, '0'), '910', 'direct_link',
      '9' || n % 12, 'link' || n, 'cmp_b', 10, 7, at
    from (select n, at, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex
      from (select n, timestamptz '2026-03-06T00:00Z' + random() * interval '5 days' as at from generate_series(1, 40) as n) as times) as ids`);
  await rollUpUntilNow(store.database);
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function users(query: Record<string, string>) {
  const url = `/operator/v1/stats/users?${new URLSearchParams({ from: "2026-03-05", to: "2026-03-12", ...query })}`;
  const answer = await fixture.app.inject({ url, headers: { authorization: `Bearer ${operatorToken}` } });
  return { status: answer.statusCode, body: answer.json() };
}

/** The expected figures, counted by one query: each user with a request for an ad or an event, by the days of a zone. */
async function expected(timeZone: string, where = "true") {
  const [row] = await run(`select count(distinct user_id)::integer as users,
      count(distinct (user_id, (occurred_at at time zone '${timeZone}')::date))::integer as "userDays",
      coalesce(sum(revenue_micros), 0)::integer as revenue
    from (
      select bot_id, campaign_id, user_id, occurred_at, 0 as revenue_micros from ad_requests where outcome <> 'refused'
      union all select bot_id, campaign_id, user_id, occurred_at, revenue_micros from events
    ) as uses where ${where}`);
  const { users = 0, userDays = 0, revenue = 0 } = row ?? {};
  const [again] = await run(`with days as (
      select distinct user_id, (occurred_at at time zone '${timeZone}')::date as day from (
        select bot_id, campaign_id, user_id, occurred_at from ad_requests where outcome <> 'refused'
        union all select bot_id, campaign_id, user_id, occurred_at from events
      ) as uses where ${where}
    )
    select (select count(*)::integer from (select from days group by user_id having count(*) > 1) as one) as "returningUsers",
      count(*)::integer as days, count(later.day)::integer as next
    from days left join days as later on later.user_id = days.user_id and later.day = days.day + 1`);
  return {
    state: "read",
    users,
    userDays,
    returningUsers: again?.returningUsers,
    nextDayShare: (again?.next ?? 0) / (again?.days ?? 1),
    revenuePerUserMicros: Math.round(revenue / users),
    revenuePerUserDayMicros: Math.round(revenue / userDays),
  };
}

test.each(["UTC", "Asia/Kathmandu", "Asia/Tehran", "America/New_York"])(
  "users and their days in %s, and the revenue for each, are those of the raw rows",
  async (timeZone) => {
    // Whole days of the zone.
    const period = { timeZone, from: "2026-03-05T00:00Z", to: "2026-03-13T00:00Z" };
    expect((await users(period)).body).toMatchObject(await expected(timeZone));
    expect((await users({ ...period, botId: "911" })).body).toMatchObject({
      ...(await expected(timeZone, "bot_id = '911'")),
      revenuePerUserMicros: 0,
    });
    expect((await users({ ...period, campaignId: "cmp_b" })).body).toMatchObject(
      await expected(timeZone, "campaign_id = 'cmp_b'"),
    );
  },
);

test("a period without anybody divides nothing, and one that is too busy or no longer kept is not guessed", async () => {
  const none = { state: "read", users: 0, userDays: 0, revenuePerUserMicros: null, revenuePerUserDayMicros: null };
  expect((await users({ campaignId: "cmp_c" })).body).toMatchObject(none);
  const question = {
    of: {},
    from: new Date("2026-03-06T00:00Z"),
    to: new Date("2026-03-12T00:00Z"),
    now: fixture.clock.now,
  };
  expect(await readUsers(store.database, question, 100)).toEqual({ state: "too-many" });
  await run("delete from ad_requests where user_id = '3'");
  expect((await users({})).body).toMatchObject({ state: "not-kept" });
  expect((await users({})).body).not.toHaveProperty("users");
});

test("only a day that is over is the next day of another, however the end of the period is rounded", async () => {
  await run(`insert into ad_requests (bot_id, user_id, outcome, occurred_at) values
    ('910', 'one', 'no-ad', '2026-03-16T10:00Z'), ('910', 'two', 'no-ad', '2026-03-16T10:00Z'),
    ('910', 'one', 'no-ad', '2026-03-17T01:00Z'), ('910', 'one', 'no-ad', '2026-03-18T01:00Z')`);
  await rollUpUntilNow(store.database);
  const share = async (now: string, to?: string) => {
    fixture.clock.now = new Date(now);
    const period = { from: "2026-03-16T00:00Z", timeZone: "UTC", ...(to && { to }) };
    const url = `/operator/v1/stats/users?${new URLSearchParams(period)}`;
    const answer = await fixture.app.inject({ url, headers: { authorization: `Bearer ${operatorToken}` } });
    return answer.json().nextDayShare;
  };
  // The 18th is not over: one of the two users of the 16th came on the 17th.
  expect(await share("2026-03-18T08:00:00Z", "2026-03-19T00:00Z")).toBe(1 / 2);
  expect(await share("2026-03-18T23:30:00Z", "2026-03-20T00:00Z")).toBe(1 / 2);
  expect(await share("2026-03-18T22:30:00Z")).toBe(1 / 2);
  expect(await share("2026-03-18T23:30:00Z")).toBe(1 / 2);
  expect(await share("2026-03-20T12:00:00Z", "2026-03-18T23:00Z")).toBe(1 / 2);
  expect(await share("2026-03-20T12:00:00Z", "2026-03-19T00:00Z")).toBe(2 / 3);
  expect(await share("2026-03-17T08:00:00Z", "2026-03-18T00:00Z")).toBe(null);
});
