import { errorEnvelope } from "@intermission/ad-core/client-api";
import { ledgerEventType } from "@intermission/ad-core/event-words";
import {
  type ApiDocument,
  componentsOf,
  jsonSchemaOf,
  nameSchemas,
  referenceTo,
} from "@intermission/server/openapi-schemas";
import type { z } from "zod";
import { type AnsweringPath, described, rewardEntry } from "./answers.ts";
import type { PlainCall } from "./plain-calls.ts";

const errors: Record<number, string> = {
  400: "Bad input; `details` names the fields.",
  401: "The key or session token is missing, malformed, unknown or revoked.",
  403: "For the bot's backend only, or about another user.",
  404: "Unknown.",
  405: "Another method is allowed here; `Allow` names it.",
  408: "The request did not arrive in time.",
  413: "The body is too large.",
  415: "The body is not JSON.",
  429: "Too many requests.",
  500: "A fault of this server.",
  503: "The database is unreachable, or the server stops; `Retry-After` says when to retry.",
};

const sharedSchemas = { EventType: ledgerEventType, RewardEntry: rewardEntry };

const always = [400, 401, 403, 404, 405, 408, 429, 500, 503];

/** OpenAPI 3.1 of `/v1`, from the schemas that the procedures parse with. */
export function openapiDocument(calls: readonly PlainCall[]): ApiDocument {
  const document = {
    openapi: "3.1.1",
    info: {
      title: "Intermission: companion API",
      version: "1",
      description:
        "The procedures of the companion API as plain HTTP. The key of a bot's backend, or a user's session token, names the bot. Changes only add: new optional fields, new endpoints.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths: Object.fromEntries(calls.map((call) => [call.url, { [call.method.toLowerCase()]: operationOf(call) }])),
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The key of the bot's backend, or a session token." },
      },
      schemas: { Error: answerSchema(errorEnvelope), ...componentsOf(sharedSchemas) },
    },
  } as ApiDocument;
  nameSchemas(document);
  return document;
}

function operationOf({ path, method, kind, input }: PlainCall) {
  const operation = {
    operationId: path.replaceAll(/\.(.)/g, (_dot, letter: string) => letter.toUpperCase()),
    summary: path,
  };
  const isOpen = path === "telegramUser.signIn";
  const more = isOpen ? { security: [] } : {};
  if (kind === "subscription") {
    return {
      ...operation,
      description:
        "Each entry of the ledger once, in commit order, then live, as server-sent events: `id` is the cursor of an entry, `data` the entry. After an event `fault`, whose data is an error, the stream ends.",
      parameters: [
        ...parametersOf(input),
        { name: "Last-Event-ID", in: "header", required: false, schema: { type: "string" } },
      ],
      responses: { "200": stream(), ...refusals(always) },
    };
  }
  const { description, answer } = described[path as AnsweringPath];
  const success = { description: "Done.", content: json(answerSchema(answer)) };
  if (method === "GET") {
    const parameters = parametersOf(input);
    return { ...operation, description, ...more, parameters, responses: { "200": success, ...refusals(always) } };
  }
  const requestBody = { required: true, content: json(input) };
  return {
    ...operation,
    description,
    ...more,
    requestBody,
    responses: { "200": success, ...refusals([...always, 413, 415]) },
  };
}

function stream() {
  const description = "Server-sent events whose data are entries:";
  return { description, content: { "text/event-stream": { schema: answerSchema(rewardEntry) } } };
}

function refusals(statuses: readonly number[]) {
  return Object.fromEntries(
    statuses.map((status) => {
      const headers = status === 503 ? { headers: { "Retry-After": { schema: { type: "string" } } } } : {};
      const content = json({ $ref: referenceTo("Error") });
      return [String(status), { description: errors[status] ?? "Refused.", ...headers, content }];
    }),
  );
}

function parametersOf({ properties = {}, required = [] }: PlainCall["input"]) {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function json(schema: unknown) {
  return { "application/json": { schema } };
}

function answerSchema(schema: z.ZodType): object {
  return jsonSchemaOf(schema, "output", sharedSchemas);
}
