/**
 * The usual changes of CONTRIBUTING.md, as they are made: which files each needs, and what notices that one was forgotten. Pages
 * of the documentation are no such files, nor is what `npm run fix` or a test's `--update` writes.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";

/** What fails while a file of a change is missing: the types of a folder, a test, or a script of the check. */
export type Guard = { readonly types: string } | { readonly test: string } | { readonly check: string };

export interface PlantedFile {
  readonly file: string;
  /** Its text with the change, from the one before, or from another file. */
  readonly write: (text: string) => string;
  readonly from?: string;
  /** Its text when it is forgotten, where it is not the one before. */
  readonly forgotten?: string;
  /** Undefined: the change begins here. */
  readonly noticedBy?: Guard;
}

export interface PlantedChange {
  readonly name: string;
  /** What faults of this change name. */
  readonly word: string;
  /** The catalogs of a message's languages are one file here: another language makes no change wider. */
  readonly maxFiles: number;
  readonly files: readonly PlantedFile[];
}

const after = (place: string, added: string) => (text: string) => replaced(text, place, `${place}${added}`);
const before = (place: string, added: string) => (text: string) => replaced(text, place, `${added}${place}`);
const atTheEnd = (added: string) => (text: string) => `${text}${added}`;
const all =
  (...writes: readonly PlantedFile["write"][]) =>
  (text: string) =>
    writes.reduce((written, write) => write(written), text);

function replaced(text: string, place: string, by: string): string {
  const parts = text.split(place);
  if (parts.length === 2) return parts.join(by);
  throw new Error(`${JSON.stringify(place)} stands ${parts.length - 1} times where a change is planted, and must once`);
}

/** Adds messages to a catalog, by their dotted paths. */
const messages = (added: Readonly<Record<string, string>>) => (text: string) => {
  const catalog = JSON.parse(text);
  for (const [path, words] of Object.entries(added)) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    let section = catalog;
    for (const name of names) section = section[name] ??= {};
    section[last] = words;
  }
  return `${JSON.stringify(catalog, null, 2)}\n`;
};

const ofConsole = { types: "apps/console" } as const;
const ofServers = { types: "tsconfig.servers.json" } as const;
const inUse = { test: "apps/ad-service/test/settings-in-use.test.ts" } as const;
const ofContract = { test: "scripts/contract-fields.test.ts" } as const;

/** Messages of the console in each of its languages. */
const said = (added: Readonly<Record<string, string>>): PlantedFile[] => [
  { file: "apps/console/src/words/en.json", write: messages(added), noticedBy: ofConsole },
  { file: "apps/console/src/words/ru.json", write: messages(added), noticedBy: { check: "scripts/check-words.ts" } },
];

const service = "apps/ad-service/src";
const migrations = readdirSync(join(root, service, "migrations")).length;

/** A forgotten one is empty, since their numbers have no gaps. */
const migration = (place: number, sql: string, test: string): PlantedFile => ({
  file: `${service}/migrations/${String(migrations + place).padStart(4, "0")}-planted.sql`,
  write: () => `-- Planted.\n${sql}\n`,
  forgotten: "-- Planted.\nselect;\n",
  noticedBy: { test },
});

const api = "packages/operator-api/src";
const core = "packages/ad-core/src";
const screens = "apps/console/src";

const setting: PlantedChange = {
  name: "a setting of campaigns",
  word: "tone",
  maxFiles: 4,
  files: [
    {
      file: `${api}/campaigns.ts`,
      write: all(
        after("  category: shortWord.nullable(),\n", '  tone: shortWord.nullable().describe("Planted."),\n'),
        after("  category: null,\n", "  tone: null,\n"),
      ),
    },
    migration(1, "alter table campaigns add column tone text;", "apps/ad-service/test/plans.test.ts"),
    {
      file: `${service}/ad-selection/eligibility.ts`,
      write: atTheEnd("\nexport const hasTone = ({ tone }: { tone: string | null }) => tone !== null;\n"),
      noticedBy: inUse,
    },
    ...said({ "campaignForm.labels.tone": "Planted" }),
  ],
};

const measure: PlantedChange = {
  name: "a measure of the statistics",
  word: "reversals",
  maxFiles: 4,
  files: [
    {
      file: `${service}/statistics/measures.ts`,
      write: all(
        before('  | "conversions";', '  | "reversals"\n'),
        before(
          "} as const satisfies Record<Measure, MeasureRow>;",
          '  reversals: { column: "reversals", figure: "reversals", series: ["intermission_conversions_total", "reversed"] },\n',
        ),
        before(
          '  reversals: { table: "conversion_reversals"',
          `  "reversals-counted": { table: "conversion_reversals", measure: "'reversals'" },\n`,
        ),
      ),
    },
    {
      file: `${api}/report-figures.ts`,
      write: before("  refunds: counts.describe(", "  reversals: z.int(),\n"),
      noticedBy: ofServers,
    },
    migration(
      2,
      "insert into stats_progress (source) values ('reversals-counted');\nselect add_measure('reversals');",
      `${service}/statistics/measures.test.ts`,
    ),
    ...said({ "reportFigures.reversals": "Planted" }),
  ],
};

const operation: PlantedChange = {
  name: "an operator command and its route",
  word: "remindNotices",
  maxFiles: 5,
  files: [
    {
      file: `${api}/notices.ts`,
      write: before(
        "  setNotices: {\n",
        `  remindNotices: {
    method: "POST",
    path: "/bots/:botId/notices/remind",
    access: grants.staff,
    changes: "notices",
    description: "Planted.",
    params,
    answer,
  },
`,
      ),
    },
    {
      file: `${service}/notices/operator-routes.ts`,
      write: before(
        "    async setNotices(",
        "    async remindNotices({ params: { botId }, http }) {\n      authorOf(http);\n      return { botId, receivers: await listNoticeReceivers(database, botId) };\n    },\n\n",
      ),
      noticedBy: ofServers,
    },
    // Some routes have no command, and some no screen.
    {
      file: `${service}/notices/commands.ts`,
      write: before("    set: verb(", '    remind: verb("remindNotices", { description: "planted", text }),\n'),
    },
    {
      file: "apps/ad-service/test/operator-answers.test.ts",
      write: before("    showNotices: await send(", '    remindNotices: await send("remindNotices", ofBot),\n'),
      noticedBy: ofServers,
    },
    ...said({ "changes.remindNotices": "planted" }),
  ],
};

const refusal: PlantedChange = {
  name: "a refusal of an operator's route",
  word: "CAMPAIGN_ASLEEP",
  maxFiles: 4,
  files: [
    { file: `${api}/problems.ts`, write: before("  CAMPAIGN_CHANGED: [],\n", "  CAMPAIGN_ASLEEP: [],\n") },
    {
      file: `${service}/bots/operator-routes.ts`,
      write: atTheEnd('\nexport const asleep = () => conflict("CAMPAIGN_ASLEEP", "it sleeps");\n'),
      noticedBy: inUse,
    },
    ...said({ "problems.CAMPAIGN_ASLEEP": "Planted." }),
  ],
};

const fieldOfCodes: PlantedChange = {
  name: "a field of the answer to POST /client/v1/codes",
  word: "short_link",
  maxFiles: 6,
  files: [
    {
      file: `${core}/client-api.ts`,
      write: before("    miniapp_url: z\n", "    short_link: z.string().optional(),\n"),
    },
    {
      file: `${service}/codes/client-routes.ts`,
      write: before("    miniapp_url: `", '    short_link: "https://example.com",\n'),
      noticedBy: ofContract,
    },
    {
      file: "packages/publisher/src/create-ads.ts",
      write: all(
        before(
          "  /** Undefined if the bot's settings name no reward. */\n  readonly rewards: NamedRewards | undefined;\n}\n\nexport interface Availability",
          "  readonly shortLink?: string | undefined;\n",
        ),
        before("    directLink: textOf(created.direct_link),\n", "    shortLink: textOf(created.short_link),\n"),
      ),
      noticedBy: ofContract,
    },
    {
      file: "clients/python/src/intermission_ads/results.py",
      write: all(
        after("    expires_in_seconds: int\n", "    short_link: str | None\n"),
        before('        direct_link=answer.get("direct_link"),\n', '        short_link=answer.get("short_link"),\n'),
      ),
      noticedBy: ofContract,
    },
    {
      file: "clients/go/client.go",
      write: after('\tDirectLink string `json:"direct_link"`\n', '\tShortLink  string `json:"short_link"`\n'),
      noticedBy: ofContract,
    },
  ],
};

const fieldOfWebhooks: PlantedChange = {
  name: "a field of webhooks",
  word: "placement",
  maxFiles: 6,
  files: [
    {
      file: `${core}/webhook-event.ts`,
      write: all(before("    test: z.boolean().optional(),\n", "    placement: z.string().optional(),\n")),
    },
    {
      file: `${core}/outgoing-webhook.ts`,
      write: all(
        before("  occurred_at: string;\n", "  placement?: string;\n"),
        before("  occurred_at: true,\n", "  placement: true,\n"),
      ),
    },
    {
      file: `${service}/deliveries/webhook-body.ts`,
      write: before("    occurred_at: at.toISOString(),\n", '    placement: "shop",\n'),
      noticedBy: ofContract,
    },
    {
      file: "packages/publisher/src/verify-webhook.ts",
      write: all(
        before(
          "  /** A test of the webhook, for which nothing is paid. */\n",
          "  readonly placement: string | undefined;\n",
        ),
        before("    ...revenueOf(fields),\n", "    placement: textOf(fields.placement),\n"),
      ),
      noticedBy: ofContract,
    },
    {
      file: "clients/python/src/intermission_ads/webhook.py",
      write: all(
        before("    is_test: bool\n", "    placement: str | None\n"),
        before('    "occurred_at",\n    "revenue', '    "placement",\n'),
        before('        "is_test": fields', '        "placement": fields.get("placement"),\n'),
      ),
      noticedBy: ofContract,
    },
    {
      file: "clients/go/webhook.go",
      write: all(
        after('\tOccurredAt string `json:"occurred_at"`\n', '\tPlacement  string `json:"placement"`\n'),
        before("\tOccurredAt    json", '\tPlacement     json.RawMessage `json:"placement,omitempty"`\n'),
      ),
      noticedBy: ofContract,
    },
  ],
};

const role: PlantedChange = {
  name: "a role",
  word: "auditor",
  maxFiles: 3,
  files: [
    {
      file: `${api}/access.ts`,
      write: all(
        before('"analyst", "advertiser", "publisher"] as const;', '"auditor", '),
        before('  analyst: "staff",\n', '  auditor: "staff",\n'),
        before("  analyst: [],\n", "  auditor: [],\n"),
        before('analyst: "all" } as const', 'auditor: "all", '),
      ),
    },
    migration(
      3,
      `alter table people drop constraint people_role_check, add constraint people_role_check
  check (role in ('owner', 'ad-ops', 'finance', 'auditor', 'analyst', 'advertiser', 'publisher'));`,
      "apps/ad-service/test/vocabularies.test.ts",
    ),
    ...said({ "roles.auditor": "planted" }),
  ],
};

const language: PlantedChange = {
  name: "a language of the console",
  word: "xx",
  maxFiles: 4,
  files: [
    { file: `${screens}/words/languages.ts`, write: before('ru: "Русский"', 'xx: "Planted", ') },
    {
      file: `${screens}/words/xx.json`,
      // Its plural forms are those of English.
      from: `${screens}/words/en.json`,
      write: (text) => text,
      noticedBy: ofConsole,
    },
    {
      file: `${screens}/words/catalog.ts`,
      write: all(
        before("import { type Language, languages }", 'import planted from "./xx.json";\n'),
        before("ru: russian }", "xx: planted, "),
      ),
      noticedBy: ofConsole,
    },
  ],
};

const screen: PlantedChange = {
  name: "a screen of the console",
  word: "weather",
  maxFiles: 4,
  files: [
    {
      file: `${screens}/weather/weather-screen.tsx`,
      write: () => `import { loadWords } from "../words/catalog.ts";
import { useWords } from "../words/word-table.ts";

const weatherWords = loadWords("weather");

export function WeatherScreen() {
  return <h1>{useWords(weatherWords).title}</h1>;
}
`,
    },
    {
      file: `${screens}/routes.tsx`,
      write: all(
        before(
          "const account = createRoute({",
          `const weather = createRoute({
  ...under,
  path: "/weather",
  component: screen(() => import("./weather/weather-screen.tsx"), "WeatherScreen"),
});
`,
        ),
        before("alerts,\n      timeline", "weather, "),
      ),
      noticedBy: ofConsole,
    },
    {
      file: `${screens}/shell/sections.ts`,
      write: before(
        '  { group: "operate", to: "/system"',
        '  { group: "operate", to: "/weather", word: "weather", icon: "system", needs: "showStatus", letter: "w" },\n',
      ),
      noticedBy: { test: "apps/console/test/sections.test.ts" },
    },
    ...said({ "weather.title": "Planted", "shell.weather": "Planted" }),
  ],
};

const retention: PlantedChange = {
  name: "rows that are kept for a number of days",
  word: "plantings",
  maxFiles: 4,
  files: [
    { file: `${api}/status.ts`, write: before('  "opening-offers",\n]);', '  "plantings",\n') },
    {
      file: `${service}/retention/kept-rows.ts`,
      write: before(
        '  "tracker-calls": {',
        '  "plantings": { tables: [{ name: "plantings" }], usualDays: 30, what: "planted" },\n',
      ),
      noticedBy: ofServers,
    },
    migration(
      4,
      "create table plantings (bot_id text not null, at timestamptz not null) partition by range (at);",
      `${service}/retention/keep-partitions.test.ts`,
    ),
    ...said({ "system.rows.plantings": "planted" }),
  ],
};

const variable: PlantedChange = {
  name: "a configuration variable",
  word: "plantedWord",
  maxFiles: 2,
  files: [
    {
      file: `${service}/config.ts`,
      write: all(
        before("  DRAIN_SECONDS: drainSeconds,\n", '  PLANTED_WORD: z.string().default("word").describe("planted"),\n'),
        before("    drainMs: read.DRAIN_SECONDS", "    plantedWord: read.PLANTED_WORD,\n"),
      ),
    },
    {
      file: `${service}/main.ts`,
      write: before("  await warnOfFaults(config, node);\n", "  void config.plantedWord;\n"),
      noticedBy: inUse,
    },
  ],
};

const partner: PlantedChange = {
  name: "a partner: a provider of sign-in",
  word: "planted-provider",
  maxFiles: 2,
  files: [
    { file: `${api}/sign-in-methods.ts`, write: before('"openid"] as const;', '"planted-provider", ') },
    {
      file: `${service}/config.ts`,
      write: before("    openid: issuer && clientId", '    "planted-provider": undefined,\n'),
      noticedBy: ofServers,
    },
  ],
};

export const plantedChanges: readonly PlantedChange[] = [
  setting,
  measure,
  operation,
  refusal,
  fieldOfCodes,
  fieldOfWebhooks,
  role,
  screen,
  retention,
  variable,
  partner,
  // Its words are those of all others, too.
  language,
];

/** A format, as it begins: the compiler names the files that follow. */
export const plantedFormat: readonly PlantedFile[] = [
  { file: `${api}/campaign-words.ts`, write: before('"direct_link"] as const;', '"planted", ') },
  { file: `${core}/wire-fields.ts`, write: before('"direct_link"]);', '"planted", ') },
];
