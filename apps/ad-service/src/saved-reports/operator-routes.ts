import { MAX_SAVED_REPORTS, savedReportRoutes } from "@intermission/operator-api/saved-reports";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import type { NoticeSettings } from "../notices/messages.ts";
import {
  findSavedReport,
  listSavedReports,
  newSavedReportId,
  removeSavedReport,
  saveReport,
  scheduleReport,
} from "./saved-reports.ts";

interface SavedReportDeps {
  database: Database;
  /** Undefined: this process sends no messages. */
  notices?: Pick<NoticeSettings, "smtpUrl"> | undefined;
  /** The id of the person whose reports a request is about. */
  ownerOf: (request: FastifyRequest, email: string | undefined) => Promise<string>;
  now: () => Date;
}

/** Reports that people keep by name: each person's are the person's own. */
export function savedReportOperatorRoutes(scope: CheckedScope, deps: SavedReportDeps): void {
  const { database, ownerOf, now } = deps;
  const canMail = deps.notices?.smtpUrl !== undefined;
  const ownReport = async (savedReportId: string, http: FastifyRequest, email: string | undefined) => ({
    savedReportId,
    personId: await ownerOf(http, email),
    author: authorOf(http),
    now: now(),
  });
  serveOperatorRoutes(scope, savedReportRoutes, {
    async listSavedReports({ query, http }) {
      const personId = await ownerOf(http, query.email);
      const { after: savedReportId } = query;
      if (savedReportId !== undefined && !(await findSavedReport(database, { savedReportId, personId })))
        throw unknownReport(savedReportId);
      const { rows: savedReports, next } = await listSavedReports(database, { ...query, personId });
      return { savedReports, canMail, next };
    },

    async saveReport({ query, body, http }) {
      const savedReportId = newSavedReportId();
      const personId = await ownerOf(http, query.email);
      const saved = await saveReport(database, {
        ...body,
        savedReportId,
        personId,
        author: authorOf(http),
        now: now(),
      });
      switch (saved.outcome) {
        case "saved":
          return saved.report;
        case "known-name":
          throw conflict(
            "REPORT_NAME_TAKEN",
            `there is a saved report named ${body.name}: choose another name, or remove it`,
            { name: body.name },
          );
        case "too-many":
          throw conflict("TOO_MANY_REPORTS", `a person has at most ${MAX_SAVED_REPORTS} saved reports: remove one`, {
            max: String(MAX_SAVED_REPORTS),
          });
        default:
          throw saved satisfies never;
      }
    },

    async removeSavedReport({ params: { savedReportId }, query, http }) {
      const removed = await removeSavedReport(database, await ownReport(savedReportId, http, query.email));
      if (removed === undefined) throw unknownReport(savedReportId);
      return removed;
    },

    async mailSavedReport({ params: { savedReportId }, query, body, http }) {
      const own = await ownReport(savedReportId, http, query.email);
      if (!canMail) throw conflict("NO_MAIL_SERVER", "no mail server is set: set SMTP_URL and SMTP_FROM");
      const scheduled = await scheduleReport(database, own, body);
      if (scheduled === undefined) throw unknownReport(savedReportId);
      return scheduled;
    },

    async stopMailingReport({ params: { savedReportId }, query, http }) {
      const stopped = await scheduleReport(database, await ownReport(savedReportId, http, query.email), null);
      if (stopped === undefined) throw unknownReport(savedReportId);
      return stopped;
    },
  });
}

function unknownReport(savedReportId: string) {
  return notFound(`the person has no saved report ${savedReportId}`);
}
