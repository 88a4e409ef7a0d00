import { z } from "zod";
import type { AppRouter } from "../router.ts";

/** A procedure as plain HTTP. */
export interface PlainCall {
  /** `telegramUser.signIn` */
  readonly path: string;
  readonly kind: "query" | "mutation" | "subscription";
  readonly method: "GET" | "POST";
  /** `/v1/telegram-user/sign-in` */
  readonly url: string;
  /** JSON Schema of the input. */
  readonly input: ObjectSchema;
}

export interface ObjectSchema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, { readonly type?: unknown; readonly anyOf?: unknown }>>;
  readonly required?: readonly string[];
}

const noInput: ObjectSchema = { type: "object", properties: {} };

/** All procedures: a query or a watch is a GET with its input in the query, a mutation is a POST with a JSON body. */
export function plainCallsOf(router: AppRouter): PlainCall[] {
  return Object.entries(router._def.procedures as unknown as Record<string, Procedure>).map(([path, { _def }]) => ({
    path,
    kind: _def.type,
    method: _def.type === "mutation" ? "POST" : "GET",
    url: `/v1/${path.replaceAll(".", "/").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    input: inputOf(_def.inputs[0]),
  }));
}

/** The parts that this file reads of tRPC's own procedures. */
interface Procedure {
  readonly _def: { readonly type: PlainCall["kind"]; readonly inputs: readonly unknown[] };
}

function inputOf(schema: unknown): ObjectSchema {
  if (!(schema instanceof z.ZodType)) return noInput;
  const { $schema: _dialect, ...made } = z.toJSONSchema(schema, { io: "input" });
  return made as ObjectSchema;
}

/** Query parameters are text: numbers and booleans are read as the input's schema wants them. */
export function inputFromQuery(query: Readonly<Record<string, unknown>>, { properties = {} }: ObjectSchema): object {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, parsedValue(value, properties[name]?.type)]),
  );
}

function parsedValue(text: unknown, type: unknown): unknown {
  if (type === "integer" && typeof text === "string" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
