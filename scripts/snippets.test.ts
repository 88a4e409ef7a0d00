import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { settingNames as adServiceSettings } from "../apps/ad-service/src/config.ts";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { settingNames as apiSettings } from "../apps/api/src/config.ts";
import { unavailableReason } from "../packages/ad-core/src/client-api.ts";
import { openTestDatabase } from "../packages/testing/src/test-database.ts";
import { commandFault } from "./command-faults.ts";
import { type Found, findGo, findPython } from "./find-programs.ts";
import { root } from "./processes.ts";
import { commandsInSentences, pages, readPage, type Snippet, shellCommands, snippetsOf } from "./snippets.ts";

/**
 * Every snippet of every page is compiled, parsed or run here. Other tests run some of them: published-package.test.ts and
 * examples.test.ts those of the publisher package and of "On your own machine", documented-receivers.test.ts those of webhooks.
 */
const all = pages().flatMap(snippetsOf);
const inLanguages = (...languages: string[]) => all.filter(({ language }) => languages.includes(language));
const nameOf = ({ page, line }: Snippet) => `${page}:${line}`;
const scratch = join(tmpdir(), `intermission-snippets-${randomUUID()}`);
beforeAll(() => void mkdirSync(scratch));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs a compiler with the snippet on its standard input, and returns its complaints. */
function complaints(command: string, words: readonly string[], input: string): string {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: scratch, input, encoding: "utf8" });
  return status === 0 ? "" : `${stdout}${stderr}`;
}

const known = ["ts", "tsx", "html", "sh", "json", "http", "sql", "python", "go", "text"];

test("every snippet names a language that is checked here; a diagram is text", () => {
  expect(all.length).toBeGreaterThan(40);
  const unknown = all.filter(({ language }) => !known.includes(language));
  expect(unknown.map((one) => `${nameOf(one)} is in "${one.language}"`)).toEqual([]);
});

/** Pages with the in-app script, whose types `npm run check` checks, and which e2e/in-app-recipes.spec.ts opens. */
const openedPages = "e2e/in-app-pages/";

test("React components and pages in HTML are files that a flow opens, or the elements of one", () => {
  expect(inLanguages("tsx").filter(({ from }) => !from?.startsWith(openedPages))).toEqual([]);
  const onOneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();
  const opened = globSync(`${openedPages}*.html`, { cwd: root }).map((file) => onOneLine(readPage(file)));
  const unknown = inLanguages("html").filter(({ text }) => !opened.some((page) => page.includes(onOneLine(text))));
  expect(unknown.map(nameOf)).toEqual([]);
});

test("TypeScript is correct with strict settings, with the packages that it imports", () => {
  const modules = join(scratch, "node_modules");
  mkdirSync(join(modules, "@intermission"), { recursive: true });
  for (const name of ["grammy", "fastify", "@trpc", "@types"])
    symlinkSync(join(root, "packages/publisher/node_modules", name), join(modules, name));
  symlinkSync(join(root, "apps/api/node_modules/eventsource"), join(modules, "eventsource"));
  symlinkSync(join(root, "examples/telegraf/node_modules/telegraf"), join(modules, "telegraf"));
  symlinkSync(join(root, "examples/nest/node_modules/@nestjs"), join(modules, "@nestjs"));
  for (const name of ["ad-core", "publisher"])
    symlinkSync(join(root, "packages", name), join(modules, "@intermission", name));
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const target = { module: "nodenext", target: "es2024", lib: ["es2024", "dom"], types: ["node"] };
  const ours = { allowImportingTsExtensions: true, skipLibCheck: true, noEmit: true, moduleDetection: "force" };
  const decorators = { experimentalDecorators: true };
  const compilerOptions = { ...strict, ...target, ...ours, ...decorators };
  writeFileSync(join(scratch, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(scratch, "package.json"), '{ "type": "module" }');
  for (const snippet of inLanguages("ts").filter(({ from }) => !from?.startsWith(openedPages)))
    writeFileSync(join(scratch, `${nameOf(snippet).replaceAll(/[/:.]/g, "-")}.ts`), snippet.text);
  expect(complaints(join(root, "node_modules/.bin/tsc"), ["-p", "."], "")).toBe("");
});

test("JSON is JSON, and an HTTP message has a request line, headers and a body of JSON", () => {
  for (const { text } of inLanguages("json")) expect(() => JSON.parse(text)).not.toThrow();
  for (const snippet of inLanguages("http")) {
    const [head = "", body] = snippet.text.trim().split("\n\n", 2);
    const [request, ...headers] = head.split("\n");
    expect(request, nameOf(snippet)).toMatch(/^(GET|POST|PATCH|PUT|DELETE) \/\S*( HTTP\/1\.1)?$/);
    for (const header of headers) expect(header, nameOf(snippet)).toMatch(/^[\w-]+: \S/);
    if (body !== undefined) expect(() => JSON.parse(body), nameOf(snippet)).not.toThrow();
  }
});

test("SQL runs on the ad service's schema", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  try {
    for (const { text } of inLanguages("sql"))
      for (const statement of text.split(";").filter((one) => one.trim() !== ""))
        await store.database.run({ name: "", text: statement }, []);
  } finally {
    await store.dispose();
  }
});

test("a page for those who come from BotAds names the cooldown and the cap that a new bot has", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  try {
    const text = `select column_name, column_default from information_schema.columns
      where table_schema = 'ad_service' and table_name = 'bots' and column_name in ('cooldown_seconds', 'daily_cap')`;
    const rows = await store.database.run<{ column_name: string; column_default: string }>({ name: "", text }, []);
    const defaults = Object.fromEntries(rows.map((row) => [row.column_name, row.column_default]));
    const page = readPage("docs/coming-from-botads.md");
    expect(page).toContain(`A new bot has a cooldown of ${defaults.cooldown_seconds} s`);
    expect(page).toContain(`a daily cap of ${defaults.daily_cap} `);
    for (const reason of ["cooldown", "daily-cap"]) expect(unavailableReason.options).toContain(reason);
    for (const word of ["`cooldown`", "`daily-cap`", "--cooldown", "--daily-cap"]) expect(page).toContain(word);
  } finally {
    await store.dispose();
  }
});

describe("shell", () => {
  test.each(inLanguages("sh").map((snippet) => [nameOf(snippet), snippet] as const))(
    "%s is read by bash",
    (_name, { text }) => {
      expect(complaints("bash", ["-n"], text)).toBe("");
    },
  );

  test("commands of ours exist, with their options, arguments and values", () => {
    const faults = inLanguages("sh").flatMap((snippet) =>
      shellCommands(snippet.text).flatMap(({ words }) => {
        const fault = commandFault(words, { isComplete: true });
        return fault === undefined ? [] : [`${nameOf(snippet)}: ${words.join(" ")}: ${fault}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  test("commands of ours in sentences exist, too", () => {
    // What changed and what was decided may name commands of earlier versions.
    const current = pages().filter((page) => !/CHANGELOG|decisions/.test(page));
    const commands = current.flatMap(commandsInSentences);
    expect(commands.length).toBeGreaterThan(40);
    const faults = commands.flatMap(({ page, words }) => {
      const fault = commandFault(words, { isComplete: false });
      return fault === undefined ? [] : [`${page}: ${words.join(" ")}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  test.each<[string, boolean, string]>([
    ["pnpm ads bots ad --bot-id 1", true, "has no command ad"],
    ["pnpm ads bots add --bot-id 1 --webhook http://x/", true, "no option --webhook"],
    ["pnpm ads bots add --name x", true, "--bot-id is missing"],
    ["pnpm ads bots add --bot-id me", false, "--bot-id me: It must be a Telegram id"],
    ["pnpm ads endpoints test", true, "<bot-id> is missing"],
    ["pnpm api rewards list --limit 1000", true, "--limit 1000"],
    ["npm start -- --bots 1", true, "--bots"],
    ["npm run starts", true, "no script starts"],
    ["pnpm --filter @intermission/none start", true, "no package"],
    ["pnpm doctor --ur http://x/", true, "has no"],
    ["../intermission/pnpm publisher doctors", true, "has no"],
    ["npx @intermission/publisher doctor", false, "in no registry"],
    ["npx --yes intermission-publisher doctor", false, "in no registry"],
    ["npm install --save @intermission/publisher@latest grammy", false, "in no registry"],
    ["pip install 'intermission-ads[fastapi]' uvicorn", false, "in no registry"],
    ["uv add intermission_ads>=0.1", false, "in no registry"],
  ])("the check finds the fault of %j", (command, isComplete, fault) => {
    expect(commandFault(shellCommands(command)[0]?.words ?? [], { isComplete })).toContain(fault);
  });
});

describe("settings", () => {
  /** Of `npm start`, the examples and the publisher's command line. */
  const others = ["AD_API_TOKEN", "AD_SERVICE_URL", "BOT_API_URL", "DEMO_BOT_PORT", "AD_SERVICE_PORT", "API_PORT"];
  const compose = readFileSync(join(root, "deploy/compose.yaml"), "utf8");
  const ofCompose = [...compose.matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name);
  const settings = new Set([...adServiceSettings, ...apiSettings, ...others, ...ofCompose]);

  test("a variable that a shell snippet sets is a setting, or is used there", () => {
    const unknown = inLanguages("sh").flatMap((snippet) =>
      shellCommands(snippet.text)
        .flatMap(({ variables }) => variables)
        .filter((name) => !settings.has(name) && !snippet.text.includes(`$${name}`))
        .map((name) => `${nameOf(snippet)} sets ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test("docs/settings.md lists every setting of both servers, and no other", () => {
    const listed = [...readPage("docs/settings.md").matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
    const expected = [...adServiceSettings, ...apiSettings].filter((name) => !name.startsWith("DEMO_"));
    expect([...new Set(listed)].sort()).toEqual([...new Set(expected)].sort());
  });
});

describe("a server that is shown or ready to copy listens on 127.0.0.1 only", () => {
  const tracked = spawnSync("git", ["ls-files", "examples/*/*"], { cwd: root, encoding: "utf8" }).stdout;
  const sources = tracked.split("\n").filter((file) => /\.(ts|py|go|php|js)$/.test(file));
  const files = sources.map((file) => [file, readFileSync(join(root, file), "utf8")] as const);
  const snippets = all.map((snippet) => [nameOf(snippet), snippet.text] as const);

  test.each([...files, ...snippets].filter(([, text]) => listeningLines(text).length > 0))("%s", (_name, text) => {
    expect(listeningLines(text).filter((line) => !line.includes("127.0.0.1"))).toEqual([]);
  });

  test.each([
    "createServer(toNodeHandler(receive)).listen(Number(PORT), () => console.log(1));",
    "app.listen({ port: 3000 });",
    "serve({ fetch: app.fetch, port: Number(PORT) });",
    'log.Fatal(http.ListenAndServe(":3000", nil))',
    "uvicorn.Config(app, port=3000)",
    'app.run(port=3000, host="0.0.0.0")',
    "php -S 0.0.0.0:3000 index.php",
    "uvicorn app:app --host 0.0.0.0 --port 3000",
  ])("the check finds the fault of %s", (line) => {
    expect(listeningLines(`first();\n${line}\n`)).toEqual([line]);
  });
});

/** Lines that make a server listen, except where the default is 127.0.0.1 and stays. */
function listeningLines(text: string): string[] {
  const listens =
    /\.listen\((?!\))|\bserve\(\{|ListenAndServe\(|uvicorn\.Config\(|\.run\([^)]*(host|port)=|run_server\(|runserver |php .*-S |--host /;
  return text.split("\n").filter((line) => listens.test(line) && !/fake\.listen\(/.test(line));
}

test("a page that names the cooldown and daily cap of a new bot names those of the schema", () => {
  const schema = readPage("apps/ad-service/src/migrations/0001-schema.sql");
  const [, cooldown] = /cooldown_seconds integer not null default (\d+)/.exec(schema) ?? [];
  const [, cap] = /daily_cap integer not null default (\d+)/.exec(schema) ?? [];
  const documented = `a cooldown of ${cooldown} s between two rewards of a user, and a daily cap of ${cap} `;
  expect(readPage("docs/coming-from-botads.md")).toContain(documented);
});

const compilers: [language: string, found: Found, words: readonly string[]][] = [
  ["python", findPython([]), ["-c", "import sys; compile(sys.stdin.read(), 'snippet', 'exec')"]],
  ["go", gofmt(findGo()), ["-e", "-l"]],
];

function gofmt(go: Found): Found {
  return "path" in go ? { path: "gofmt" } : go;
}

describe.each(compilers)("%s", (language, found, words) => {
  const snippets = inLanguages(language).map((snippet) => [nameOf(snippet), snippet] as const);
  if ("missing" in found)
    console.log(`!!! ${snippets.length} snippets in ${language} were not compiled: ${found.missing}`);
  test.skipIf("missing" in found).each(snippets)("%s compiles", (_name, { text }) => {
    expect(complaints("path" in found ? found.path : "", words, text)).toBe("");
  });
});
