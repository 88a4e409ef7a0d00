import { randomBytes } from "node:crypto";
import { MAX_SAVED_REPORTS, type SavedReport } from "@intermission/operator-api/saved-reports";
import { type Author, audit, changeAudited, openChange } from "@intermission/postgres/audit";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, statement } from "@intermission/postgres/open-database";
import bs58 from "bs58";

const columns = `saved_report_id as "savedReportId", name, search, saved_at as "savedAt"`;

const list = statement<SavedReport>(
  "saved-reports.list",
  `select ${columns} from saved_reports
   where person_id = $1 and ($2::text is null or lower(name) > (
     select lower(last.name) from saved_reports as last where last.saved_report_id = $2 and last.person_id = $1))
   order by lower(name) limit $3`,
);

/** The saved reports of a person by name; those after `after`, which is the id of one of them. */
export async function listSavedReports(
  database: Pick<Database, "run">,
  of: { personId: string; after?: string | undefined; limit: number },
): Promise<ListPage<SavedReport>> {
  const rows = await database.run(list, [of.personId, of.after, of.limit + 1]);
  return listPage(rows, of.limit, ({ savedReportId }) => savedReportId);
}

const find = statement<SavedReport>(
  "saved-reports.find",
  `select ${columns} from saved_reports where saved_report_id = $1 and person_id = $2`,
);

export async function findSavedReport(
  database: Pick<Database, "run">,
  of: { savedReportId: string; personId: string },
): Promise<SavedReport | undefined> {
  return (await database.run(find, [of.savedReportId, of.personId]))[0];
}

type SaveOutcome = { outcome: "saved"; report: SavedReport } | { outcome: "known-name" } | { outcome: "too-many" };

// Two requests of one person wait for each other, so that the number of reports is bounded.
const lockPerson = statement<{ person: string }>(
  "saved-reports.lock-person",
  "select person_id as person from people where person_id = $1 for no key update",
);
const insert = statement<SavedReport>(
  "saved-reports.insert",
  `insert into saved_reports (saved_report_id, person_id, name, search, saved_at) values ($1, $2, $3, $4, $5)
   on conflict (person_id, lower(name)) do nothing returning ${columns}`,
);

export function newSavedReportId(): string {
  return `rep_${bs58.encode(randomBytes(9))}`;
}

/** Saves a report under a name that the person has not used in any case. */
export async function saveReport(
  database: Pick<Database, "transaction">,
  report: Pick<SavedReport, "savedReportId" | "name" | "search"> & {
    personId: string;
    author?: Author | undefined;
    now: Date;
  },
): Promise<SaveOutcome> {
  const { savedReportId, personId, name, search, author, now } = report;
  return database.transaction<SaveOutcome>(async (tx) => {
    const change = await openChange(tx, author, savedReportId);
    await tx.run(lockPerson, [personId]);
    if ((await tx.run(list, [personId, null, MAX_SAVED_REPORTS])).length === MAX_SAVED_REPORTS)
      return { outcome: "too-many" };
    const [saved] = await tx.run(insert, [savedReportId, personId, name, search, now]);
    if (saved === undefined) return { outcome: "known-name" };
    await audit(tx, change);
    return { outcome: "saved", report: saved };
  });
}

const remove = statement<SavedReport>(
  "saved-reports.remove",
  `delete from saved_reports where saved_report_id = $1 and person_id = $2 returning ${columns}`,
);

/** Undefined: the person has no such report. */
export async function removeSavedReport(
  database: Pick<Database, "transaction">,
  { savedReportId, personId, author }: { savedReportId: string; personId: string; author?: Author | undefined },
): Promise<SavedReport | undefined> {
  const values = [savedReportId, personId];
  return changeAudited(database, { objectId: savedReportId, author }, { statement: remove, values });
}
