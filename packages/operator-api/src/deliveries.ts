import { anyEventType } from "@intermission/ad-core/event-words";
import { deliveryState, momentInput, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { listLimit, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const eventId = z.string().regex(/^[\w-]{1,64}$/, "must look like evt_…");
const eventParams = z.object({ eventId });
const botParams = z.object({ botId: telegramId });

/** Why a delivery that was not answered 2xx is not sent again automatically. */
export const endReason = z.enum(["attempts-used-up", "at-most-once", "held-too-long", "test", "erased"]);
export type EndReason = z.output<typeof endReason>;

const listedDelivery = z.object({
  botId: z.string(),
  eventId: z.string(),
  event: anyEventType,
  userId: z.string(),
  isTest: z.boolean(),
  state: deliveryState,
  attempts: z.int(),
  dueAt: moment.nullable().describe("When the next attempt is due, while it is waiting."),
  createdAt: moment,
  finishedAt: moment.nullable(),
  endReason: endReason.nullable().describe("Why it is not sent again automatically."),
});
export type ListedDelivery = z.output<typeof listedDelivery>;

const deliveryAttempt = z.object({
  attempt: z.int(),
  startedAt: moment,
  url: z.string(),
  address: z.string().nullable(),
  status: z.int().nullable(),
  errorClass: z.string().nullable(),
  dnsMs: z.number().nullable(),
  tcpMs: z.number().nullable(),
  tlsMs: z.number().nullable(),
  firstByteMs: z.number().nullable(),
  totalMs: z.number().nullable(),
  responseText: z.string().nullable().describe("The endpoint's answer, or the error."),
  nextAt: moment.nullable(),
  isReplay: z.boolean().describe("Requested, outside of the schedule."),
});
export type DeliveryAttempt = z.output<typeof deliveryAttempt>;

const shownDelivery = listedDelivery.extend({
  resumeState: z
    .enum(["waiting", "delivered", "unknown"])
    .nullable()
    .describe("While a replay is pending: the state that the delivery returns to if the replay fails."),
  blockedReason: z
    .enum(["no-endpoint", "pending", "operator", "gone", "failing", "no-token"])
    .nullable()
    .describe("Why nothing is sent to the endpoint now; null: due deliveries are sent."),
  notBefore: moment.nullable().describe("Until when the endpoint rests or its breaker allows no probe."),
  body: z.string().describe("The bytes that each attempt sends, as text."),
  log: z.array(deliveryAttempt).describe("The latest attempts, in order."),
});
export type ShownDelivery = z.output<typeof shownDelivery>;

/** `failed`: only deliveries in the state `failed`. `everything`: also delivered ones and those waiting for a later attempt. */
const scope = z.enum(["failed", "everything"]);
export type ReplayScope = z.output<typeof scope>;

export const deliveryRoutes = {
  listDeliveries: {
    method: "GET",
    path: "/deliveries",
    access: { ...grants.readers, ...grants.ownBot },
    description: "Lists webhook deliveries, the latest first.",
    query: z.object({
      botId: telegramId.optional(),
      state: deliveryState.optional(),
      before: eventId.optional().describe("The event id at which an earlier list ended."),
      limit: listLimit,
    }),
    answer: z.object({
      deliveries: z.array(listedDelivery),
      next: next.describe("Send it as `before` for the next page."),
    }),
  },
  showDelivery: {
    method: "GET",
    path: "/deliveries/:eventId",
    access: { ...grants.readers, ...grants.ownEvent },
    description: "Returns a delivery with its attempts, and what to do about a failed one.",
    params: eventParams,
    answer: shownDelivery.extend({ explanation: z.string(), advice: z.string().optional() }),
    refusals: [410],
  },
  replayDelivery: {
    method: "POST",
    path: "/deliveries/:eventId/replay",
    access: { ...grants.staff, ...grants.ownEvent },
    changes: "delivery",
    description: "Sends one event again, unchanged.",
    params: eventParams,
    answer: z.object({
      eventId: z.string(),
      botId: z.string(),
      state: z.literal("waiting"),
      notBefore: moment.nullable().describe("Until when its endpoint is in backoff; null: it is sent now."),
    }),
    refusals: [409, 410],
  },
  countReplayable: {
    method: "GET",
    path: "/bots/:botId/replay",
    access: { ...grants.readers, ...grants.ownBot },
    description: "Counts the events of a bot that would be sent again, and returns the moment until which it counted.",
    params: botParams,
    query: z.strictObject({ scope, since: momentInput }),
    answer: z.object({
      botId: z.string(),
      scope,
      since: moment,
      until: moment,
      keptSince: moment.nullable().describe("Webhooks of earlier events of the period are no longer kept."),
      count: z.int(),
      unknown: z.int().describe("Deliveries in the state `unknown`, which a replay leaves out."),
      isMore: z.boolean().describe("The counts are lower bounds."),
    }),
    refusals: [409],
  },
  replayDeliveries: {
    method: "POST",
    path: "/bots/:botId/replay",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "bot",
    description: "Sends one batch of a bot's events again; repeat it with `next` as `after` until `next` is null.",
    params: botParams,
    body: z
      .strictObject({ scope, since: momentInput, until: momentInput, after: eventId.nullish() })
      .meta({ examples: [{ scope: "failed", since: "2026-03-01T00:00:00Z", until: "2026-03-02T00:00:00Z" }] }),
    answer: z.object({ replayed: z.int(), next: z.string().nullable() }),
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
