import { z } from "zod";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const reportReplica = z.object({
  server: z.string().describe("Host, port and database."),
  state: z
    .enum(["following", "behind", "away"])
    .describe("Reports are read there while it is `following`; else the primary answers them."),
  lagSeconds: z.number().nullable().describe("Age of the newest transaction that it has replayed; null: unknown."),
  reason: z.string().nullable().describe("Why it is `away`."),
});

export type ReportReplica = z.infer<typeof reportReplica>;

const answer = z.object({
  version: z.string().describe("Of the server that answered."),
  schema: z.string().describe("The newest migration that ran on its store."),
  store: z.object({
    server: z.string().describe("Address and port, or `socket` for a database on the same machine."),
    database: z.string(),
    postgres: z.string().describe("Version of PostgreSQL."),
  }),
  partitionsUntil: moment.describe("Until when there are partitions for new rows: four to five weeks from now."),
  kept: z
    .array(
      z.object({
        rows: z.string().describe("A kind of rows that are dropped by the week, such as `requests`."),
        days: z.int().describe("How long they are kept, by the setting of the server that answered."),
        since: moment.describe("Rows of before are not there."),
      }),
    )
    .describe("How long rows are kept."),
  reportReplica: reportReplica
    .optional()
    .describe("The replica of `REPORTS_DATABASE_URL`; absent without this setting."),
});

export const statusRoutes = {
  showStatus: { method: "GET", path: "/status", description: "Returns version and store of the server.", answer },
} as const satisfies OperatorRoutes;
