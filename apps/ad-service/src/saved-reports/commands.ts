import {
  dimensionsOf,
  type ReportAddress,
  readableBy,
  readReportAddress,
  reportQueryOf,
} from "@intermission/operator-api/report-address";
import type { Person } from "@intermission/operator-api/session";
import { withExamples } from "@intermission/server/command-line";
import type { CommandContext } from "@intermission/server/operator-client";
import {
  addCsv,
  callRoute,
  list,
  subject,
  type Verb,
  verb,
  type WireAnswer,
} from "@intermission/server/route-commands";
import { printReport } from "../statistics/commands.ts";

type SavedReport = WireAnswer<"listSavedReports">["savedReports"][number];

const whose = {
  email: { flag: "person", value: "email", text: "whose report it is", isRequired: true },
} as const;

const reportShown = ({ savedReportId, name, search, mails }: SavedReport) => ({
  savedReportId,
  name,
  search,
  mails: mailsText(mails),
});

function mailsText(mails: SavedReport["mails"]): string {
  if (mails === null || mails.ended !== null) return "never";
  const hour = `${String(mails.hour).padStart(2, "0")}:00`;
  return `each ${mails.every} from ${hour} on, ${mails.timeZone}${mails.hasCsv ? ", with CSV" : ""}`;
}

/** Runs a saved report by its id or its name. */
const show: Verb = (command, context) => {
  command
    .description("the figures of a saved report, as the operator sees them")
    .argument("<report>", "its id or name")
    .requiredOption("--person <email>", "whose report it is");
  addCsv(command).action(async (idOrName: string, { person: email, csv }: { person: string; csv?: true }) => {
    const report = await findReport(context, { idOrName, email });
    const query = queryOf(await findPerson(context, email), readReportAddress(report.search));
    await printReport(context, query, { isCsv: csv === true });
  });
  withExamples(command, [
    'reports show "Bots, this week" --person ann@example.com',
    "reports show rep_8fJ2kLm4Qr9T --person ann@example.com --csv",
  ]);
};

async function findReport(context: CommandContext, { idOrName, email }: { idOrName: string; email: string }) {
  const searched = idOrName.toLowerCase();
  for (let after: string | undefined; ; ) {
    const { savedReports, next } = await callRoute(context, "listSavedReports", { query: { email, after } });
    const found = savedReports.find(
      ({ savedReportId, name }) => savedReportId === idOrName || name.toLowerCase() === searched,
    );
    if (found !== undefined) return found;
    if (next === null)
      throw new Error(`${email} has no saved report ${idOrName}; see all with: reports list --person ${email}`);
    after = next;
  }
}

async function findPerson(context: CommandContext, email: string): Promise<WireAnswer<"listPeople">["people"][number]> {
  const { people } = await callRoute(context, "listPeople", { query: { find: email } });
  const found = people.find((person) => person.email === email.toLowerCase());
  if (found === undefined) throw new Error(`nobody has the e-mail address ${email}; see all with: people list`);
  return found;
}

/** As on the person's screen: people of publishers and advertisers have reports of what is theirs. */
function queryOf(
  { role, botIds, advertiserId }: Pick<Person, "role" | "botIds" | "advertiserId">,
  address: ReportAddress,
) {
  const search = readableBy({ role, botIds }, address);
  return {
    ...reportQueryOf(search),
    botId: search.bot ?? botIds[0],
    ...(advertiserId !== null && { advertiser: advertiserId }),
    by: dimensionsOf(search).join(","),
  };
}

export const savedReportCommands = subject("reports", "reports that people have saved in the console", {
  list: list("listSavedReports", "savedReports", {
    description: "the saved reports of a person",
    options: whose,
    examples: ["--person ann@example.com"],
    columns: {
      REPORT: "savedReportId",
      NAME: "name",
      MAILED: ({ mails }) => mailsText(mails),
      SEARCH: "search",
    },
  }),
  show,
  add: verb("saveReport", {
    description: "save a report for a person",
    options: {
      ...whose,
      name: "unique for the person",
      search: { text: "what follows ? in its address in the console", value: "query" },
    },
    examples: ['--person ann@example.com --name "Bots, 28 days" --search "range=28-days&by=bot"'],
    shown: reportShown,
  }),
  remove: verb("removeSavedReport", {
    description: "remove a saved report, and its mails",
    options: whose,
    examples: ["rep_8fJ2kLm4Qr9T --person ann@example.com"],
    shown: reportShown,
  }),
  mail: verb("mailSavedReport", {
    description: "mail a saved report to its person",
    options: {
      ...whose,
      every: "how often: on each day, on Mondays, or on the first of a month",
      hour: "from which hour on",
      timeZone: { text: "of the hour, such as Europe/Berlin", value: "name" },
      hasCsv: "whether the CSV file is attached",
    },
    examples: ["rep_8fJ2kLm4Qr9T --person ann@example.com --every week --hour 8 --time-zone Europe/Berlin"],
    shown: reportShown,
  }),
  "stop-mails": verb("stopMailingReport", {
    description: "mail a saved report no more",
    options: whose,
    examples: ["rep_8fJ2kLm4Qr9T --person ann@example.com"],
    shown: reportShown,
  }),
});
