import type { z } from "zod";
import type { Access } from "./access.ts";
import type { ObjectKind } from "./object-kinds.ts";

/** One operation of the operator's API. Paths are relative to `/operator/v1`; `:name` is a parameter. */
export type OperatorRoute = RouteParts & (ReadingRoute | WritingRoute);

interface ReadingRoute {
  readonly method: "GET";
}

interface WritingRoute {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * What its entry in the audit trail is about. The erasure of a user is a change of the bot: the entry must not name the user.
   * Null: it changes nothing. A body keeps a token or an address out of logs, or the answer differs each time; an unfinished
   * upload is nothing yet; what a person has read concerns nobody else.
   */
  readonly changes: ObjectKind | null;
}

interface RouteParts {
  readonly path: `/${string}`;
  readonly access: Access;
  /** For the OpenAPI document. */
  readonly description: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** JSON, or `file`: the bytes of one. */
  readonly body?: z.ZodType | "file";
  readonly answer: z.ZodType;
  /** Of an answer that is text and no JSON: its types, of which the first holds where the handler sets none. */
  readonly answerTypes?: readonly [`text/${string}`, ...`text/${string}`[]];
  /** The text is sent as it is made, so that no length of it is too much for memory. */
  readonly isStreamed?: true;
  /** Of the answer; 200 by default. */
  readonly status?: 201;
  /**
   * Days in UTC, as `2026-03-01`: since when clients should no longer call it, and from when on it may be gone. Each answer,
   * also a refusal, says both (RFC 9745, RFC 8594), and so does the OpenAPI document.
   */
  readonly deprecated?: {
    readonly since: `${number}-${number}-${number}`;
    readonly sunset: `${number}-${number}-${number}`;
  };
  /** Statuses of refusals beside those that every route has. */
  readonly refusals?: readonly number[];
  /** For routes that need longer than the server's usual limits: until the body has arrived, and until the answer. */
  readonly bodyTimeoutMs?: number;
  readonly answerTimeoutMs?: number;
}

export type OperatorRoutes = Readonly<Record<string, OperatorRoute>>;

/** The parts of a request that have schemas. */
export const requestParts = ["params", "body", "query"] as const;
export type RequestPart = (typeof requestParts)[number];

/** What a handler reads of a part of the request, after its schema has checked it. */
export type CheckedPart<Route, Part extends RequestPart> =
  Route extends Readonly<Record<Part, infer Schema extends z.ZodType>> ? z.output<Schema> : unknown;

/** What a handler returns. */
export type AnswerOf<Route extends OperatorRoute> = Route extends { isStreamed: true }
  ? AsyncIterable<string>
  : z.output<Route["answer"]>;

/** The names of the parameters in a path. */
export type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
