import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { HttpError } from "./http-server.ts";
import { parseRequest } from "./parse-request.ts";

/** A scope whose routes declare zod schemas: `request.params`, `query` and `body` have their types. */
export type CheckedScope = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Returns the parsed value, or throws the `HttpError` that refuses it. A missing body is given as null. */
export type RequestCheck = (schema: z.ZodType, value: unknown) => unknown;

/**
 * Checks the requests of the routes below a scope by the zod schemas that the routes declare. The library's own compiler
 * is not used: it refuses a missing body where all fields are optional, and has errors of its own form.
 *
 * Response schemas serve the types and the OpenAPI document. At run time an answer is only JSON: checking it costs, and
 * an answer that does not fit its schema would become a 500.
 */
export function checkRequests(scope: FastifyInstance, check: RequestCheck = parseRequest): CheckedScope {
  const checked = scope.withTypeProvider<ZodTypeProvider>();
  checked.setValidatorCompiler<z.ZodType>(({ schema }) => (value: unknown) => {
    try {
      return { value: check(schema, value) };
    } catch (error) {
      // Anything else is a bug, which Fastify answers with 500.
      if (error instanceof HttpError) return { error };
      throw error;
    }
  });
  checked.setSerializerCompiler(() => JSON.stringify);
  return checked;
}

/**
 * Refusals that an operation documents in its `response`. The type hides them from the handler, which throws them and
 * returns only answers.
 */
export function refusals(...statuses: readonly number[]): object {
  return Object.fromEntries(statuses.map((status) => [status, z.unknown()]));
}
