import { z } from "zod";
import { grants } from "./access.ts";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

export const reportReplica = z.object({
  server: z.string().describe("Host, port and database."),
  state: z
    .enum(["following", "behind", "away"])
    .describe("Reports are read there while it is `following`; else the primary answers them."),
  lagSeconds: z.number().nullable().describe("Age of the newest transaction that it has replayed; null: unknown."),
  reason: z.string().nullable().describe("Why it is `away`."),
});

export type ReportReplica = z.infer<typeof reportReplica>;

/** Rows that are kept for a number of days, by a setting of each kind, and dropped by the week. */
export const keptRows = z.enum([
  "codes",
  "views",
  "launches",
  "requests",
  "milestones",
  "cta-clicks",
  "refused-clicks",
  "withheld-clicks",
  "conversions",
  "ad-reports",
  "deliveries",
  "attempts",
  "tracker-calls",
  "impressions",
  "opening-offers",
]);
export type KeptRows = z.infer<typeof keptRows>;

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
        rows: keptRows,
        days: z.int().describe("How long they are kept, by the setting of the server that answered."),
        since: moment.describe("Rows of before are not there."),
      }),
    )
    .describe("How long rows are kept."),
  reportReplica: reportReplica
    .optional()
    .describe("The replica of `REPORTS_DATABASE_URL`; absent without this setting."),
});

export type Status = z.output<typeof answer>;

const node = z.object({
  nodeId: z.string().describe("Of one start of a server."),
  name: z.string().describe("The machine's name and the port."),
  version: z.string(),
  startedAt: moment,
  seenAt: moment.describe("Nodes report every half minute; one that crashed is listed for a day."),
});

const system = z.object({
  nodes: z.array(node),
  queues: z.object({
    waitingWebhooks: z.int(),
    oldestWebhookDueAt: moment.nullable(),
    heldWebhooks: z.int().describe("Until their bot has an active address."),
    dueViews: z.int().describe("Views whose end is due."),
    waitingTrackerCalls: z.int(),
    waitingNotices: z.int(),
  }),
  progress: z.array(
    z.object({
      what: z.enum(["statistics", "money"]),
      until: moment.nullable().describe("Everything before it is counted; null: nothing yet."),
    }),
  ),
  settings: z
    .array(
      z.object({
        name: z.string(),
        isSet: z.boolean().describe("False: the default is in force."),
        value: z.string().nullable().describe("In force; null: a secret, or none."),
        isSecret: z.boolean(),
      }),
    )
    .describe("Of the server that answered, by name; empty where the command line opened the store itself."),
});
export type System = z.output<typeof system>;

export const statusRoutes = {
  showStatus: {
    method: "GET",
    path: "/status",
    description: "Returns version and store of the server.",
    access: grants.readers,
    answer,
  },
  showSystem: {
    method: "GET",
    path: "/system",
    access: grants.staff,
    description: "Returns the nodes, the queues, how far sums have counted, and the settings in force without secrets.",
    answer: system,
  },
} as const satisfies OperatorRoutes;
