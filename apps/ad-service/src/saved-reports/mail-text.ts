import type { ReportAddress } from "@intermission/operator-api/report-address";
import type { MailInterval } from "@intermission/operator-api/saved-reports";
import type { StatementLanguage } from "@intermission/operator-api/statement-languages";

interface MailWords {
  open: string;
  attached: string;
  tooLarge: string;
  notReadable: string;
  every: Record<MailInterval, string>;
  why: (every: string, hour: string, zone: string) => string;
  unsubscribe: string;
  settings: string;
}

const mailWords: Readonly<Record<StatementLanguage, MailWords>> = {
  en: {
    open: "Open the report; the console asks you to sign in:",
    attached: "Its CSV file is attached.",
    tooLarge: "Its CSV file is too large for a mail: save it on the report's screen.",
    notReadable: "Its CSV file could not be made: open the report, which says why.",
    every: { day: "each day", week: "each Monday", month: "on the first of each month" },
    why: (every, hour, zone) => `You have chosen to get this report ${every} from ${hour} on (${zone}).`,
    unsubscribe: "To get it no more, without signing in:",
    settings: "Other times are chosen in the console, beside the report's name.",
  },
  ru: {
    open: "Открыть отчёт; консоль попросит войти:",
    attached: "Файл CSV приложен.",
    tooLarge: "Файл CSV слишком велик для письма: сохраните его на странице отчёта.",
    notReadable: "Файл CSV не удалось составить: откройте отчёт, там сказано почему.",
    every: { day: "каждый день", week: "по понедельникам", month: "первого числа каждого месяца" },
    why: (every, hour, zone) => `Вы выбрали получать этот отчёт ${every} с ${hour} (${zone}).`,
    unsubscribe: "Больше не получать его, без входа:",
    settings: "Другое время выбирается в консоли, рядом с названием отчёта.",
  },
};

/** Whether the mail contains the CSV file. */
export type CsvOutcome = "not-chosen" | "attached" | "too-large" | "not-readable";

interface ReportMailFacts {
  name: string;
  address: ReportAddress;
  /** The first and the last day of the report. */
  days: { from: string; to: string };
  every: MailInterval;
  hour: number;
  timeZone: string;
  language: StatementLanguage;
  csv: CsvOutcome;
  consoleUrl: string;
  unsubscribeUrl: string;
}

export function reportMail(facts: ReportMailFacts): { subject: string; text: string } {
  const { name, days, language, every, hour, timeZone, csv } = facts;
  const words = mailWords[language];
  const fileLine: Record<CsvOutcome, string[]> = {
    "not-chosen": [],
    attached: [words.attached],
    "too-large": [words.tooLarge],
    "not-readable": [words.notReadable],
  };
  const text = [
    `${name}: ${shownDays(days, language)} (${facts.address.zone})`,
    "",
    words.open,
    linkOf(facts),
    ...fileLine[csv],
    "",
    words.why(words.every[every], `${String(hour).padStart(2, "0")}:00`, timeZone),
    words.settings,
    words.unsubscribe,
    facts.unsubscribeUrl,
    "",
  ].join("\n");
  return { subject: `${name}: ${shownDays(days, language)}`, text };
}

function shownDays({ from, to }: { from: string; to: string }, language: StatementLanguage): string {
  const format = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
    dateStyle: "long",
    timeZone: "UTC",
  });
  return format.formatRange(new Date(`${from}T00:00:00Z`), new Date(`${to}T00:00:00Z`));
}

/** A link to the report of the mail's days, independent of the day on which it is opened. */
function linkOf({ address, days, consoleUrl }: ReportMailFacts): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...address, range: undefined, ...days }))
    if (value !== undefined) query.set(name, value);
  return `${consoleUrl}/reports?${query}`;
}
