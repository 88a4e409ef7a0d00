import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { createJsonSchemaTransform } from "fastify-type-provider-zod";
import type { OpenAPIV3_1 } from "openapi-types";
import { z } from "zod";
import {
  componentsOf,
  jsonSchemaOf,
  MAIN_METHODS,
  nameSchemas,
  overrideFor,
  referenceTo,
  type SharedSchemas,
} from "./openapi-schemas.ts";

export interface ApiDescription {
  readonly title: string;
  readonly description: string;
  /** The path of the API, such as `/client/v1`; its document is at `{prefix}/openapi.json`. */
  readonly prefix: string;
  /** The address of this server for callers. */
  readonly publicUrl: string;
  /** Each of them alone authenticates a request. Without one the API is public, or its tokens are in bodies. */
  readonly securitySchemes?: Readonly<Record<string, OpenAPIV3_1.SecuritySchemeObject>>;
  /** The body of every error. */
  readonly errorBody: z.ZodType;
  /** The statuses that any request can be refused with, beside those that every API of this server has. */
  readonly refusals: readonly number[];
  /** Names of the headers that each answer has beside `X-Request-Id`. */
  readonly headers?: readonly string[];
  /** By the name of the body's type, such as `WebhookEvent`. */
  readonly webhooks?: Readonly<
    Record<string, { readonly name: string; readonly summary: string; readonly body: z.ZodType }>
  >;
  /** Each becomes a component of its name, which generated clients have as a type. */
  readonly sharedSchemas?: SharedSchemas;
}

const JSON_TYPE = "application/json";

const meanings: Record<number, string> = {
  400: "Bad input; `details` names the fields.",
  401: "The token is missing, malformed, unknown or revoked.",
  403: "The caller may not do this: the token belongs to another bot, or the bot is suspended.",
  404: "Unknown.",
  405: "Another method is allowed here; `Allow` names it.",
  408: "The request did not arrive in time.",
  409: "Not possible now; `message` says why and what to do.",
  410: "No longer available: it expired, or the cursor is newer than the backup from which the service was restored.",
  413: "The body is too large.",
  414: "A part of the address is too long.",
  415: "The body has a content type that is not accepted here.",
  429: "Too many requests; `Retry-After` says when to retry.",
  431: "The address and the headers are too long.",
  500: "A fault of this service.",
  503: "Busy, or its database is unreachable; `Retry-After` says when to retry.",
  507: "The disk where files are stored is full; `message` names it.",
};

/** Possible for every request: some are sent before the request is parsed, and 405 for other methods of the path. */
const always = [400, 405, 408, 431, 500, 503];
const withParameter = [404, 414];
const withBody = [413, 415];

/**
 * Makes the OpenAPI 3.1 document of an API from the zod schemas of its routes, and serves it at `{prefix}/openapi.json`.
 * Call it on a scope of its own, before the routes are added; hooks of inner scopes, such as authentication, do not
 * apply to the document.
 */
export async function describeApi(surface: FastifyInstance, api: ApiDescription): Promise<void> {
  const { title, description, prefix, securitySchemes = {}, sharedSchemas = {} } = api;
  const toJsonSchema = createJsonSchemaTransform({
    skipList: [],
    zodToJsonConfig: { override: overrideFor(sharedSchemas) },
  });
  await surface.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: "3.1.1",
      info: { title, version: "1", description, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
      servers: [{ url: `${api.publicUrl}${prefix}` }],
      security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
      components: {
        securitySchemes,
        schemas: {
          Error: jsonSchemaOf(api.errorBody, "output"),
          ...webhookComponents(api),
          ...componentsOf(sharedSchemas),
        },
      },
      webhooks: webhooksOf(api),
    },
    stripBasePath: false,
    transform(route) {
      const { schema, url } = toJsonSchema(route);
      const { body, consumes } = route.schema ?? {};
      const isOptional = body instanceof z.ZodType && body.safeParse({}).success;
      return {
        schema: {
          ...schema,
          ...(consumes !== undefined && body === undefined && { body: { type: "string", format: "binary" } }),
          ...(body instanceof z.ZodType && { body: withExamples(schema.body, body) }),
          ...(isOptional && { [OPTIONAL_BODY]: true }),
        },
        url: url.slice(prefix.length),
      };
    },
    transformObject: (made) =>
      "openapiObject" in made ? completed(made.openapiObject as OpenAPIV3_1.Document, api) : made.swaggerObject,
  });
  surface.get(`${prefix}/openapi.json`, { schema: { hide: true } }, (_request, reply) =>
    reply.header("cache-control", "max-age=300").send(surface.swagger()),
  );
}

const OPTIONAL_BODY = "x-optional-body";

/** Zod leaves out the examples of a body in which a field is transformed, such as a date. */
function withExamples(made: unknown, body: z.ZodType): object {
  const { examples } = body.meta() ?? {};
  return { ...(typeof made === "object" ? made : {}), ...(examples !== undefined && { examples }) };
}

function webhooksOf({ webhooks = {} }: ApiDescription): Record<string, OpenAPIV3_1.PathItemObject> {
  const made = Object.entries(webhooks).map(([key, { name, summary }]) => {
    const schema = { $ref: referenceTo(name) };
    const requestBody = { required: true, content: { [JSON_TYPE]: { schema } } };
    return [key, { post: { summary, requestBody, responses: { "200": { description: "Accepted." } } } }];
  });
  return Object.fromEntries(made);
}

function webhookComponents({ webhooks = {}, sharedSchemas = {} }: ApiDescription) {
  const made = Object.values(webhooks).map(({ name, body }) => [name, jsonSchemaOf(body, "input", sharedSchemas)]);
  return Object.fromEntries(made);
}

/** Adds what all operations have in common: titles, tags, headers, errors. */
function completed(document: OpenAPIV3_1.Document, api: ApiDescription): OpenAPIV3_1.Document {
  for (const [path, operations = {}] of Object.entries(document.paths ?? {})) {
    for (const method of MAIN_METHODS) {
      const operation = operations[method] as (OpenAPIV3_1.OperationObject & { [OPTIONAL_BODY]?: true }) | undefined;
      if (!operation) continue;
      const { [OPTIONAL_BODY]: isBodyOptional, requestBody, responses: declared = {} } = operation;
      delete operation[OPTIONAL_BODY];
      if (isBodyOptional && requestBody && "content" in requestBody) requestBody.required = false;
      operation.summary ??= titleOf(operation.operationId ?? "");
      operation.tags ??= [path.split("/")[1] ?? ""];
      const refused = [
        ...always,
        ...api.refusals,
        ...(path.includes("{") ? withParameter : []),
        ...(method === "get" ? [] : withBody),
        ...Object.keys(declared).map(Number),
      ].filter((status) => status >= 400);
      const answers = Object.entries(declared)
        .filter(([status]) => Number(status) < 400)
        .map(([status, answer]) => [status, { ...answer, ...answerParts(answer, api) }]);
      const errors = [...new Set(refused)].sort((one, other) => one - other).map((status) => [status, errorOf(status)]);
      operation.responses = Object.fromEntries([...answers, ...errors]);
    }
  }
  nameSchemas(document);
  return document;
}

/** `createCode` → `Create code`. */
function titleOf(operationId: string): string {
  const words = operationId.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function answerParts(answer: { description?: string }, { headers = [] }: ApiDescription) {
  const description = answer.description === "Default Response" ? "Done." : answer.description;
  return { description, headers: headersOf([...headers, "X-Request-Id"]) };
}

function errorOf(status: number) {
  return {
    description: meanings[status] ?? "Refused.",
    ...((status === 429 || status === 503) && { headers: headersOf(["Retry-After"]) }),
    content: { [JSON_TYPE]: { schema: { $ref: referenceTo("Error") } } },
  };
}

function headersOf(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { schema: { type: "string" as const } }]));
}
