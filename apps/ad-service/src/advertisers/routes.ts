import { type Database, statement } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { hashPostbackKey } from "./advertisers.ts";

const maxValueMicros = 10n ** 17n;

/** In an address, or in JSON. Its digits go to the database as text. An empty one is a macro that was not filled in. */
const valueMicros = z
  .union([z.string(), z.number()])
  .transform((value) => (value === "" ? null : String(value)))
  .refine(
    (digits) => digits === null || (/^\d{1,18}$/.test(digits) && BigInt(digits) <= maxValueMicros),
    `must be a whole number of micros from 0 to ${maxValueMicros}: a value of 4.99 is 4990000`,
  );

/** The same in units of the currency, as advertisers' trackers send it. */
const value = z
  .union([z.string(), z.number()])
  .transform((amount) => (amount === "" ? null : String(amount)))
  .refine(
    (amount) => amount === null || /^\d{1,11}(\.\d{1,6})?$/.test(amount),
    "must be an amount with a point and 6 decimals at most, such as 4.99",
  )
  .transform((amount) => (amount === null ? null : microsOf(amount)));

function microsOf(amount: string): string {
  const [whole = "", fraction = ""] = amount.split(".");
  return String(BigInt(whole + fraction.padEnd(6, "0")));
}

/** All values of a deployment are in its currency: one in another would be added to them as if it were. */
function postbackIn(currency: string) {
  return z
    .object({
      click_id: z.string().min(1).max(64),
      key: z.string().min(1).max(128),
      conversion_id: z.string().max(128).default(""),
      event: z.string().max(64).default(""),
      value_micros: valueMicros.optional(),
      value: value.optional(),
      currency: z
        .string()
        .refine(
          (given) => given === "" || given.toUpperCase() === currency,
          `must be ${currency}, the currency of this service: convert the value, or leave both out`,
        )
        .optional(),
    })
    .refine(({ value_micros: micros, value }) => (micros ?? null) === null || (value ?? null) === null, {
      path: ["value"],
      error: "and value_micros are the same amount: send one of them",
    });
}

const refusals = {
  "unknown-key": [401, "UNAUTHORIZED", "the key belongs to no advertiser; it may be truncated or replaced"],
  "unknown-click": [
    404,
    "UNKNOWN_CLICK",
    "no click of this id was counted or is held for a campaign of this advertiser",
  ],
  "too-many": [409, "TOO_MANY_CONVERSIONS", "this click has reached the maximum number of conversions"],
} satisfies Record<Extract<RecordConversionOutcome, { outcome: "refused" }>["reason"], [number, string, string]>;

/** `GET|POST /postback/v1/conversions`: the advertiser's server reports a conversion of a click. */
export function conversionRoutes(
  app: FastifyInstance,
  deps: { database: Database; currency: string; now?: () => Date },
): void {
  const { database, currency, now = () => new Date() } = deps;
  const postback = postbackIn(currency);
  const calls = rateLimiter({ quota: 200, windowSeconds: 4, mostKeys: 20_000 });
  const wrongKeys = rateLimiter({ quota: 20, windowSeconds: 100, mostKeys: 20_000 });

  const answer = async (request: FastifyRequest, given: unknown) => {
    const at = now();
    const network = addressNetwork(request.ip);
    spend(calls, network, at);
    const asked = parseRequest(postback, given);
    const outcome = await recordConversion(database, {
      ...{ clickId: asked.click_id, key: asked.key, conversionId: asked.conversion_id, event: asked.event },
      ...{ valueMicros: asked.value_micros ?? asked.value ?? null, now: at },
    });
    if (outcome.outcome !== "refused") return { outcome: outcome.outcome };
    if (outcome.reason === "unknown-key") spend(wrongKeys, network, at);
    throw new HttpError(...refusals[outcome.reason]);
  };

  app.register(
    async (scope) => {
      scope.addHook("onRequest", async (_request, reply) => {
        reply.header("cache-control", "no-store");
      });
      scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) =>
        done(null, Object.fromEntries(new URLSearchParams(String(body)))),
      );
      scope.get("/conversions", { exposeHeadRoute: false }, (request) => answer(request, request.query));
      scope.post("/conversions", (request) =>
        answer(request, { ...fieldsOf(request.query), ...fieldsOf(request.body) }),
      );
    },
    { prefix: "/postback/v1" },
  );
}

function fieldsOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

export interface Postback {
  clickId: string;
  key: string;
  conversionId: string;
  event: string;
  valueMicros: string | null;
  now: Date;
}

export type RecordConversionOutcome =
  | { outcome: "recorded" }
  /** It was recorded before, so nothing was added. */
  | { outcome: "repeated" }
  | { outcome: "refused"; reason: "unknown-key" | "unknown-click" | "too-many" };

/** One click may lead to several conversions: a purchase, its renewals. More than this is not an honest count. */
const MOST_OF_CLICK = 100;

// The hash is looked up by its index: the timing can reveal something about the hash, but nothing about the key.
const findAdvertiser = statement<{ name: string }>(
  "conversions.advertiser-of-key",
  "select name from advertisers where postback_key_hash = $1",
);
// The event of a direct link's click has the same UUID as the click. A held click converts like any other: the advertiser reports
// it once, and it may be released later.
const findClick = statement<{ botId: string; campaignId: string; creativeId: string | null; advertiser: string }>(
  "conversions.click",
  `select bot_id as "botId", campaign_id as "campaignId", creative_id as "creativeId", advertiser
   from (
     select bot_id, case when price_micros is not null then campaign_id end as campaign_id, creative_id
     from events where event_id = 'evt_' || substr($1, 5) and starts_with($1, 'clk_')
     union all
     select bot_id, campaign_id, null from withheld_clicks where click_id = $1 and outcome = 'held'
     union all
     select bot_id, campaign_id, creative_id from ad_clicks where click_id = $1
   ) as clicked join campaigns using (campaign_id)`,
);
const insert = statement<{ clickId: string }>(
  "conversions.insert",
  `insert into conversions (click_id, event, conversion_id, value_micros, bot_id, campaign_id, creative_id, occurred_at)
   select $1, $2, $3, $4, $5, $6, $7, $8
   where (select count(*) from (select from conversions where click_id = $1 limit ${MOST_OF_CLICK}) as known) < ${MOST_OF_CLICK}
   on conflict do nothing returning click_id as "clickId"`,
);
const isKnown = statement<{ known: boolean }>(
  "conversions.is-known",
  "select exists (select from conversions where click_id = $1 and event = $2 and conversion_id = $3) as known",
);
const countRefusal = statement<never>(
  "conversions.count-refusal",
  `insert into conversion_refusals (day, reason, count) values (($1::timestamptz at time zone 'utc')::date, $2, 1)
   on conflict (day, reason) do update set count = conversion_refusals.count + 1`,
);

/** Records a conversion that the advertiser of the click's campaign reports. For statistics only: nothing is paid for it. */
export async function recordConversion(database: Database, postback: Postback): Promise<RecordConversionOutcome> {
  const recorded = await tryToRecord(database, postback);
  if (recorded.outcome === "refused") await database.run(countRefusal, [postback.now, recorded.reason]);
  return recorded;
}

async function tryToRecord(database: Database, postback: Postback): Promise<RecordConversionOutcome> {
  const { clickId, key, conversionId, event, valueMicros, now } = postback;
  const [advertiser] = await database.run(findAdvertiser, [hashPostbackKey(key)]);
  if (!advertiser) return { outcome: "refused", reason: "unknown-key" };
  const [click] = await database.run(findClick, [clickId]);
  // The answer is the same for another advertiser's click, so that it does not reveal whether that click exists.
  if (!click || click.advertiser !== advertiser.name) return { outcome: "refused", reason: "unknown-click" };
  const { botId, campaignId, creativeId } = click;
  const values = [clickId, event, conversionId, valueMicros, botId, campaignId, creativeId, now];
  if ((await database.run(insert, values)).length > 0) return { outcome: "recorded" };
  const [row] = await database.run(isKnown, [clickId, event, conversionId]);
  return row?.known ? { outcome: "repeated" } : { outcome: "refused", reason: "too-many" };
}
