import type { Author } from "@intermission/postgres/audit";
import type { FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** Set for routes that change something; read it with `authorOf`. */
    author: Author | undefined;
  }
}

export function authorOf({ author, routeOptions }: FastifyRequest): Author {
  if (author === undefined)
    throw new Error(`${routeOptions.url} changes something, and its route in the table does not say which object`);
  return author;
}
