import { type OperatorRouteName, operatorRoutes } from "./operator-routes.ts";
import type { ParamNames } from "./route.ts";

type Routes = typeof operatorRoutes;
type ParamsInput<Name extends OperatorRouteName> = [ParamNames<Routes[Name]["path"]>] extends [never]
  ? { params?: never }
  : { params: Record<ParamNames<Routes[Name]["path"]>, string> };
type QueryInput<Name extends OperatorRouteName> = Routes[Name] extends { query: infer Query extends { shape: object } }
  ? { query?: { [Field in keyof Query["shape"]]?: string | undefined } }
  : { query?: never };
type BodyInput<Name extends OperatorRouteName> = Routes[Name] extends { body: unknown }
  ? { body?: object }
  : { body?: never };

/** The parts of a request to a route. Values of the query are text, as the address carries them. */
export type OperatorInput<Name extends OperatorRouteName> = ParamsInput<Name> & QueryInput<Name> & BodyInput<Name>;

export interface OperatorRequest {
  method: Routes[OperatorRouteName]["method"];
  /** Relative to `/operator/v1`. */
  path: string;
  query?: Record<string, string | undefined>;
  /** JSON, or the stream of a file. The server checks it. */
  body?: object;
}

/** The request to a route of the table, with its parameters in the path. */
export function operatorRequest<Name extends OperatorRouteName>(
  name: Name,
  ...[input]: Record<never, never> extends OperatorInput<Name> ? [input?: OperatorInput<Name>] : [OperatorInput<Name>]
): OperatorRequest {
  const { method, path } = operatorRoutes[name];
  const {
    params = {},
    query,
    body,
  } = (input ?? {}) as { params?: Record<string, string> } & Omit<OperatorRequest, "method" | "path">;
  const filled = path.replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ""));
  return { method, path: filled, ...(query !== undefined && { query }), ...(body !== undefined && { body }) };
}
