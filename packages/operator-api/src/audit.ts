import { momentInput } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { listLimit, moment, next } from "./fields.ts";
import { objectKinds } from "./object-kinds.ts";
import type { OperatorRoutes } from "./route.ts";

const state = z.record(z.string(), z.unknown()).nullable();

const auditEntry = z.object({
  entryId: z.string(),
  at: moment,
  actor: z.string().describe("The id of a person, or `command-line`."),
  actorName: z.string().nullable().describe("The person's e-mail address at that time."),
  operation: z.string().describe("The name of the route."),
  objectKind: z.enum(objectKinds),
  objectId: z.string(),
  objectName: z.string().nullable().describe("At that time; null: objects of its kind have no name."),
  before: state.describe(
    "The fields that the change has set as they were before, without secrets; null: there was no object.",
  ),
  after: state.describe("The same fields after the change; null: the object is gone."),
  address: z.string(),
  requestId: z.string().describe("As in the log."),
});
export type AuditEntry = z.output<typeof auditEntry>;

const word = z.string().max(512).optional();

export const auditRoutes = {
  listAuditEntries: {
    method: "GET",
    path: "/audit",
    access: grants.owner,
    description: "Lists who changed what, the latest first.",
    query: z.object({
      actor: word.describe("The id of a person, an e-mail address, or `command-line`."),
      operation: word,
      objectKind: word,
      objectId: word,
      text: word.describe("Anywhere in the object before or after the change, in any case."),
      from: momentInput.optional(),
      to: momentInput.optional(),
      before: z
        .string()
        .regex(/^\d{1,18}$/, "must be the id of an entry")
        .optional()
        .describe("The `next` of the page before."),
      limit: listLimit,
    }),
    answer: z.object({ entries: z.array(auditEntry), next }),
  },
} as const satisfies OperatorRoutes;
