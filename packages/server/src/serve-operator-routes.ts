import { Readable } from "node:stream";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { AnswerOf, CheckedPart, OperatorRoute, OperatorRoutes } from "@intermission/operator-api/route";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type CheckedScope, refusals } from "./checked-routes.ts";
import { bodyBytes } from "./finish-bodies.ts";
import { invalid, invalidField } from "./refuse.ts";

/** A request whose parts the schemas of its route have checked. */
interface OperatorRequest<Route extends OperatorRoute>
  extends Pick<FastifyRequest<{ Params: CheckedPart<Route, "params"> }>, "params" | "log"> {
  readonly query: CheckedPart<Route, "query">;
  /** Whom it comes from, and its headers. */
  readonly http: FastifyRequest;
  readonly body: Route extends { body: "file" } ? AsyncIterable<Uint8Array> : CheckedPart<Route, "body">;
}

/** A handler for each route of a part of the table: without one, or with another answer, it does not compile. */
export type OperatorHandlers<Routes extends OperatorRoutes> = {
  readonly [Name in keyof Routes]: (
    request: OperatorRequest<Routes[Name]>,
    answer: Pick<FastifyReply, "header">,
  ) => Promise<AnswerOf<Routes[Name]>>;
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** The name of an operator's route in the route table. */
    operation?: string;
  }
}

const FILE_TYPE = "application/octet-stream";

/** Registers the routes of a part of the table, whose names are the operations of the OpenAPI document. */
export function serveOperatorRoutes<Routes extends OperatorRoutes>(
  scope: CheckedScope,
  routes: Routes,
  handlers: OperatorHandlers<Routes>,
): void {
  const hasFiles = Object.values(routes).some(({ body }) => body === "file");
  // A stream, so that a file is never held in memory as a whole. The verb that reads it limits its size.
  // One parser serves all parts of the table in this scope, and a second one of a type is refused.
  if (hasFiles && !scope.hasContentTypeParser(FILE_TYPE))
    scope.addContentTypeParser(FILE_TYPE, async (_request: unknown, payload: Readable) => payload);
  for (const [operationId, route] of Object.entries<OperatorRoute>(routes)) {
    const { method, path: url, description, params, query, body, status = 200, answerTypes } = route;
    const { bodyTimeoutMs, answerTimeoutMs, isStreamed, deprecated } = route;
    const headers = deprecated && deprecationHeaders(deprecated);
    // The mapped type holds one handler for each name; a loop over the names loses which.
    const handle = handlers[operationId] as (request: object, answer: FastifyReply) => Promise<unknown>;
    scope.route({
      method,
      url,
      config: {
        operation: operationId,
        ...(bodyTimeoutMs !== undefined && { bodyTimeoutMs }),
        ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
      },
      schema: {
        operationId,
        description,
        ...(deprecated !== undefined && { deprecated: true }),
        ...(answerTypes !== undefined && { produces: [...answerTypes] }),
        ...(params !== undefined && { params }),
        ...(query !== undefined && { querystring: query }),
        ...(body === "file" ? { consumes: [FILE_TYPE] } : body !== undefined && { body }),
        response: { ...refusals(...(route.refusals ?? [])), [status]: route.answer },
      },
      ...(headers && {
        // On refusals too, also of hooks that run before those of the route: who calls it wrongly is to hear of it.
        onSend: async (_request: unknown, reply: FastifyReply) => {
          reply.headers(headers);
        },
      }),
      preValidation: async ({ params, query, body: sent }) => {
        refuseUnstorable(params);
        refuseUnstorable(query);
        if (body !== "file") refuseUnstorable(sent);
      },
      handler: async (request, reply) => {
        const { params, query, log } = request;
        const input = body === "file" ? bytesOf(request.body) : request.body;
        if (answerTypes !== undefined) reply.type(answerTypes[0]);
        const answer = await handle({ params, query, body: input, log, http: request }, reply);
        return reply.code(status).send(isStreamed ? Readable.from(answer as AsyncIterable<string>) : answer);
      },
    });
  }
}

/** A date of structured fields (RFC 9651) in seconds, and one of HTTP. */
function deprecationHeaders({ since, sunset }: NonNullable<OperatorRoute["deprecated"]>) {
  return { deprecation: `@${Date.parse(since) / 1000}`, sunset: new Date(sunset).toUTCString() };
}

/** More than any schema allows: what is nested deeper is refused by its schema. */
const MAX_DEPTH = 20;

/**
 * PostgreSQL stores no zero characters. Half a character is no text of JSON there, and elsewhere it is stored as another one:
 * programs and forms that cut a text at a number of UTF-16 units send it, of an emoji.
 */
function refuseUnstorable(value: unknown, field = "body", depth = 0): void {
  if (typeof value === "string" && value.includes("\0"))
    throw invalidField(field, "must not contain U+0000", fieldFault("ZERO_CHARACTER"));
  if (typeof value === "string" && !value.isWellFormed())
    throw invalidField(
      field,
      "must not contain half a character (an unpaired surrogate)",
      fieldFault("HALF_CHARACTER"),
    );
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  for (const [name, one] of Object.entries(value)) {
    refuseUnstorable(name, field, depth);
    refuseUnstorable(one, Array.isArray(value) ? field : name, depth + 1);
  }
}

function bytesOf(body: unknown): AsyncIterable<Uint8Array> {
  if (body instanceof Readable) return bodyBytes(body);
  throw invalid("the file is missing: send its bytes as application/octet-stream");
}
