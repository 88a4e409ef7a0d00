import {
  availabilityResponse,
  createCodeRequest,
  createCodeResponse,
  describeCodeResponse,
  errorEnvelope,
  listEventsQuery,
  listEventsResponse,
  redeliverEventResponse,
  statsQuery,
  statsResponse,
  telegramId,
  testWebhookRequest,
  testWebhookResponse,
} from "@intermission/ad-core/client-api";
import { webhookEvent } from "@intermission/ad-core/webhook-event";
import { z } from "zod";

const errors: Record<number, string> = {
  400: "Bad input; `details` names the fields.",
  401: "The token is missing, malformed, unknown or revoked.",
  403: "The token belongs to another bot, or the bot is suspended.",
  404: "Unknown.",
  405: "Another method is allowed here; `Allow` names it.",
  408: "The request did not arrive in time.",
  409: "Not possible now; `message` says why and what to do.",
  410: "The cursor is newer than the backup from which the service was restored: read from the start.",
  413: "The body is too large.",
  414: "A part of the address is too long.",
  415: "The body is not JSON.",
  429: "Too many requests; `Retry-After` says when to retry.",
  431: "The address and the headers are too long.",
  500: "A fault of this service.",
  503: "Busy, or its database is unreachable; `Retry-After` says when to retry.",
};

/** Possible for every request: some are sent before the request is parsed, and 405 for other methods of the path. */
const always = [400, 401, 403, 405, 408, 429, 431, 500, 503];
const withParameter = [...always, 404, 414];
const withBody = [...always, 413, 415];

/** OpenAPI 3.1 of `/client/v1`, from the schemas that validate requests. */
export function openapiDocument(publicUrl: string) {
  return {
    openapi: "3.1.1",
    info: {
      title: "Intermission: client API",
      version: "1",
      description:
        "The API of the ad service for publishers. Changes only add to it: new optional fields, new endpoints.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: `${publicUrl}/client/v1` }],
    security: [{ apiToken: [] }],
    paths: {
      "/codes": {
        post: {
          operationId: "createCode",
          summary: "Returns a code for a user: the current one if it stays valid for a while, otherwise a new one.",
          requestBody: { required: true, content: json(schemaOf(createCodeRequest, "input")) },
          responses: answers(createCodeResponse, withBody),
        },
      },
      "/codes/{code}": {
        get: {
          operationId: "describeCode",
          summary: "Returns what a code earned, its views, and why visits were refused.",
          parameters: [{ name: "code", in: "path", required: true, schema: { type: "string" } }],
          responses: answers(describeCodeResponse, withParameter),
        },
      },
      "/availability": {
        get: {
          operationId: "describeAvailability",
          summary: "Returns whether a user could begin to earn now; if not, why and from when.",
          parameters: [{ name: "user_tg_id", in: "query", required: true, schema: schemaOf(telegramId, "input") }],
          responses: answers(availabilityResponse, always),
        },
      },
      "/events": {
        get: {
          operationId: "listEvents",
          summary: "Lists every event since a cursor, in the order of commits, without gaps.",
          parameters: queryParameters(listEventsQuery),
          responses: answers(listEventsResponse, [...always, 410]),
        },
      },
      "/events/{event_id}/redeliver": {
        post: {
          operationId: "redeliverEvent",
          summary: "Sends an event again, unchanged: the same event_id, the same bytes.",
          parameters: [{ name: "event_id", in: "path", required: true, schema: { type: "string" } }],
          responses: answers(redeliverEventResponse, [...withParameter, ...withBody, 409], 202),
        },
      },
      "/stats": {
        get: {
          operationId: "readStats",
          summary:
            "The bot's statistics by hour, day, campaign or creative: what was requested, shown, earned and refused.",
          parameters: queryParameters(statsQuery),
          responses: answers(statsResponse, always),
        },
      },
      "/webhook/test": {
        post: {
          operationId: "testWebhook",
          summary: "Sends a signed test event now and returns the response to it; a 2xx activates a pending endpoint.",
          requestBody: { required: false, content: json(schemaOf(testWebhookRequest, "input")) },
          responses: answers(testWebhookResponse, [...withBody, 404, 409]),
        },
      },
    },
    webhooks: {
      event: {
        post: {
          summary: "Sent to the bot's webhook address, signed with its token in X-Signature. Any 2xx is success.",
          requestBody: { required: true, content: json(schemaOf(webhookEvent, "input")) },
          responses: { "200": { description: "Accepted." } },
        },
      },
    },
    components: {
      securitySchemes: { apiToken: { type: "http", scheme: "bearer", description: "The bot's API token, `ad_…`." } },
      schemas: { Error: schemaOf(errorEnvelope, "output") },
    },
  };
}

function answers(schema: z.ZodType, statuses: readonly number[], successStatus = 200) {
  const headers = { "RateLimit-Policy": header(), RateLimit: header(), "X-Request-Id": header() };
  const refused = statuses.map((status) => {
    const content = json({ $ref: "#/components/schemas/Error" });
    const isForLater = status === 429 || status === 503;
    const more = isForLater ? { headers: { "Retry-After": header() } } : {};
    return [String(status), { description: errors[status] ?? "Refused.", ...more, content }];
  });
  const success = { description: "Done.", headers, content: json(schemaOf(schema, "output")) };
  return { [String(successStatus)]: success, ...Object.fromEntries(refused) };
}

function queryParameters(query: z.ZodObject) {
  return Object.entries(query.shape).map(([name, schema]) => {
    const isRequired = !z.safeParse(schema, undefined).success;
    return { name, in: "query", required: isRequired, schema: schemaOf(z.object({ [name]: schema }), "output", name) };
  });
}

function header() {
  return { schema: { type: "string" } };
}

function json(schema: unknown) {
  return { "application/json": { schema } };
}

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
function schemaOf(schema: z.ZodType, io: "input" | "output", property?: string): unknown {
  const { $schema: _dialect, ...made } = z.toJSONSchema(schema, { io });
  return property === undefined ? made : made.properties?.[property];
}
