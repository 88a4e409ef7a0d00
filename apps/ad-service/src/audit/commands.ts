import { textOf } from "@intermission/server/command-tables";
import { list, subject } from "@intermission/server/route-commands";

export const auditCommands = subject("audit", "who changed what, when and from where", {
  list: list("listAuditEntries", "entries", {
    description: "changes, newest first",
    examples: ["", "--object-id cmp_8fJ2kLm4Qr9T", "--actor ann@example.com --from 7d --json"],
    options: {
      actor: { text: "the id or the e-mail address of a person, or command-line", value: "who" },
      operation: { text: "such as updateCampaign", value: "name" },
      objectKind: "such as campaign or bot",
      objectId: "of one object only",
      text: "anywhere in the object before or after the change",
      before: { value: "entry-id" },
    },
    columns: {
      ENTRY: "entryId",
      AT: "at",
      WHO: ({ actorName, actor }) => actorName ?? actor,
      FROM: "address",
      OPERATION: "operation",
      OBJECT: ({ objectKind, objectId }) => `${objectKind} ${objectId}`,
      CHANGES: ({ before, after }) => changes(before, after),
    },
  }),
});

type State = Readonly<Record<string, unknown>> | null;

/** The fields that differ: `dailyCap: 20 → 30`. Of a new object nothing, since all of them are new. */
function changes(before: State, after: State): string {
  if (before === null || after === null) return after === null ? "" : "added";
  const differing = Object.keys({ ...before, ...after }).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  return differing.map((field) => `${field}: ${textOf(before[field])} → ${textOf(after[field])}`).join("; ");
}
