import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import { HttpError } from "./error-body.ts";

/** All methods that Node's parser accepts, except CONNECT, which reaches no route. */
const allMethods = METHODS.filter((method) => method !== "CONNECT");
const routesOf = new WeakMap<FastifyInstance, Map<string, Set<string>>>();

/** Call it before routes are added. */
export function rememberRoutes(app: FastifyInstance): void {
  for (const method of allMethods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const known = new Map<string, Set<string>>();
  routesOf.set(app, known);
  app.addHook("onRoute", ({ method, url }) => {
    const methods = known.get(url) ?? new Set<string>();
    for (const one of [method].flat()) methods.add(one);
    known.set(url, methods);
  });
}

/** Answers 405 with `Allow` to other methods at known paths. Call it last, on a server made by `createHttpServer`. */
export function refuseOtherMethods(app: FastifyInstance): void {
  for (const [url, methods] of [...(routesOf.get(app) ?? [])]) {
    const others = allMethods.filter((method) => !methods.has(method));
    if (url.endsWith("*") || others.length === 0) continue;
    const allow = [...methods].sort().join(", ");
    app.route({
      method: others,
      url,
      onRequest: async (request) => {
        const message = `${request.method} is not allowed here, only ${allow}`;
        throw new HttpError(405, "METHOD_NOT_ALLOWED", message, { headers: { allow } });
      },
      handler: async () => {},
    });
  }
}
