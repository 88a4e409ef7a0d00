import { endpointState, receiverWarnings } from "@intermission/ad-core/client-words";
import { eventType, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { moment, next, sortBy, wholeList } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

export const disabledReasons = ["operator", "gone", "failing"] as const;
export type DisabledReason = (typeof disabledReasons)[number];

export const breakerState = z.enum(["closed", "open", "half-open"]);
export type BreakerState = z.output<typeof breakerState>;

/** What lists of endpoints are sorted by: the bot's name, or its waiting webhooks. */
export const endpointSorts = ["name", "waiting"] as const;
export type EndpointSort = (typeof endpointSorts)[number];

const warnings = z
  .array(z.enum(receiverWarnings))
  .describe("Why its answers of 2xx may not mean that it records events.");

/** A bot and the endpoint that its webhooks go to. */
const listedEndpoint = z.object({
  botId: z.string(),
  name: z.string(),
  url: z.string().nullable().describe("Null, like the other fields of the endpoint, if the bot has none."),
  state: endpointState.nullable(),
  stateSince: moment.nullable(),
  disabledReason: z.enum(disabledReasons).nullable(),
  breaker: breakerState.nullable(),
  probeAt: moment.nullable().describe("When a breaker that is not closed lets the next delivery through."),
  backoffUntil: moment
    .nullable()
    .describe("Until when it rests, because an answer or a timeout showed that it is overloaded."),
  inFlight: z.int(),
  maxInFlight: z.int().nullable(),
  waiting: z.int().describe("10001 where the queue is longer than 10000."),
  held: z.int(),
  oldestDueAt: moment.nullable(),
  lastSuccessAt: moment.nullable(),
  lastFailureAt: moment.nullable(),
  lastStatus: z.int().nullable().describe("Of the last failure."),
  lastErrorClass: z.string().nullable(),
  lastAnswer: z.string().nullable(),
  warnings,
  disablePercent: z.int().describe("Progress towards being disabled."),
  warnedPercent: z.int().describe("The last of the marks 50, 70, 90 and 100 that was warned of."),
  tests: z.int().describe("While pending: tests that were made so far."),
  testDueAt: moment.nullable(),
});
export type ListedEndpoint = z.output<typeof listedEndpoint>;

const params = z.object({ botId: telegramId });
const asOf = { asOf: moment.describe("When the server read it.") };
const answer = listedEndpoint.extend(asOf);
const inFlightFault = "must be from 1 to 40";

export const endpointRoutes = {
  listEndpoints: {
    method: "GET",
    path: "/endpoints",
    access: grants.readers,
    description: "Lists the webhook endpoints with their health.",
    query: z.object({
      after: wholeList.after,
      limit: wholeList.limit,
      state: endpointState.optional(),
      trouble: z.stringbool().default(false).describe("Only those in trouble."),
      waiting: z.stringbool().default(false).describe("Only those with webhooks that wait."),
      bots: z
        .string()
        .regex(/^\d{1,20}(,\d{1,20}){0,999}$/, "must be ids with commas between them")
        .transform((ids) => ids.split(","))
        .optional()
        .describe("Only of these bots: ids with commas between them."),
      sort: sortBy(endpointSorts),
    }),
    answer: z.object({
      ...asOf,
      endpoints: z.array(listedEndpoint).describe("By the bot's id, without `sort`."),
      next,
    }),
  },
  showEndpoint: {
    method: "GET",
    path: "/endpoints/:botId",
    access: { ...grants.readers, ...grants.ownBot },
    description: "Returns a bot's webhook endpoint with its health.",
    params,
    answer,
  },
  limitEndpoint: {
    method: "PATCH",
    path: "/endpoints/:botId",
    access: grants.staff,
    changes: "endpoint",
    description: "Sets how many webhooks may be under way to an endpoint at once.",
    params,
    body: z
      .strictObject({ maxInFlight: z.int(inFlightFault).min(1, inFlightFault).max(40, inFlightFault) })
      .meta({ examples: [{ maxInFlight: 8 }] }),
    answer,
    refusals: [409],
  },
  enableEndpoint: {
    method: "POST",
    path: "/endpoints/:botId/enable",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "endpoint",
    description: "Enables an endpoint; a test webhook activates it, unless the test is skipped.",
    params,
    body: z.strictObject({ skipTest: z.boolean().optional() }).meta({ examples: [{ skipTest: false }] }),
    answer,
    refusals: [409],
  },
  disableEndpoint: {
    method: "POST",
    path: "/endpoints/:botId/disable",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "endpoint",
    description: "Stops sending to an endpoint; its events are held.",
    params,
    answer,
    refusals: [409],
  },
  testEndpoint: {
    method: "POST",
    path: "/endpoints/:botId/test",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "endpoint",
    description: "Sends a signed test webhook now, and returns how the endpoint answered.",
    params,
    body: z
      .strictObject({ event: eventType.optional(), userId: telegramId.optional() })
      .meta({ examples: [{ event: "rewarded" }] }),
    answer: z.object({
      botId: z.string(),
      eventId: z.string(),
      isDelivered: z.boolean(),
      status: z.int().nullable(),
      errorClass: z.string().nullable(),
      answer: z.string().nullable().describe("The endpoint's answer, or the error."),
      warnings,
      endpointState: endpointState.nullable(),
      dnsMs: z.int().nullable(),
      tcpMs: z.int().nullable(),
      tlsMs: z.int().nullable(),
      firstByteMs: z.int().nullable(),
      totalMs: z.int().nullable(),
      advice: z.string().optional(),
    }),
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
