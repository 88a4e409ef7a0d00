import { z } from "zod";
import type { OperatorRoutes } from "./route.ts";

const answer = z.object({
  version: z.string().describe("Of the server that answered."),
  schema: z.string().describe("The newest migration that ran on its store."),
  store: z.object({
    server: z.string().describe("Address and port, or `socket` for a database on the same machine."),
    database: z.string(),
    postgres: z.string().describe("Version of PostgreSQL."),
  }),
});

export const statusRoutes = {
  showStatus: { method: "GET", path: "/status", description: "Returns version and store of the server.", answer },
} as const satisfies OperatorRoutes;
