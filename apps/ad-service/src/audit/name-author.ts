import { isChanging, operatorRoutes } from "@intermission/operator-api/operator-routes";
import type { Author } from "@intermission/postgres/audit";
import type {} from "@intermission/server/author-of";
import type { FastifyRequest } from "fastify";
import { readState } from "./object-states.ts";

/** Notes who makes a request that may change something. Call it when the caller is known. */
export function nameAuthor(request: FastifyRequest, actor: Author["actor"]): void {
  const { operation: action } = request.routeOptions.config;
  if (!isChanging(action)) return;
  const kind = operatorRoutes[action].changes;
  // A connection of the socket in the data folder has no address.
  const { ip: address = "socket", id: requestId }: { ip?: string; id: string } = request;
  request.author = { action, objectKind: kind, readState, actor, address, requestId };
}
