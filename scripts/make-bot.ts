import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./processes.ts";
import { Problem } from "./say.ts";

interface BotKind {
  /** A folder of `examples`. */
  readonly example: string;
  /** Of that folder; all without it. */
  readonly files?: readonly string[];
  /** What `pip` installs beside the client of `clients/python`. */
  readonly python?: { readonly extras: readonly string[]; readonly packages: readonly string[] };
  /** What prepares the folder, and what starts the program, in it. */
  readonly install: readonly string[];
  readonly start: string;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: read by the shell, as the other programs read PORT themselves.
const port = "${PORT:-3000}";
const npm = { install: ["npm install"], start: "npm start" };
const venv = ["python3 -m venv .venv", ".venv/bin/pip install -r requirements.txt"];

/** What `--make-bot` makes: the examples, by the library or the language that people look for. */
export const botKinds = {
  grammy: { example: "grammy-bot", ...npm },
  telegraf: { example: "telegraf", ...npm },
  express: { example: "express", ...npm },
  hono: { example: "hono", ...npm },
  nest: { example: "nest", ...npm },
  aiogram: {
    example: "fastapi-aiogram",
    python: { extras: ["fastapi", "aiogram"], packages: ["uvicorn"] },
    install: venv,
    start: ".venv/bin/python bot.py",
  },
  "python-telegram-bot": {
    example: "python-telegram-bot",
    python: { extras: ["fastapi"], packages: ["uvicorn", "python-telegram-bot>=20"] },
    install: venv,
    start: ".venv/bin/python bot.py",
  },
  fastapi: {
    example: "fastapi-aiogram",
    files: ["app.py"],
    python: { extras: ["fastapi"], packages: ["uvicorn"] },
    install: venv,
    start: `.venv/bin/uvicorn app:app --port ${port}`,
  },
  django: {
    example: "django",
    python: { extras: [], packages: ["django"] },
    install: [...venv, ".venv/bin/python manage.py migrate --run-syncdb"],
    start: `.venv/bin/python manage.py runserver 127.0.0.1:${port}`,
  },
  flask: {
    example: "flask",
    python: { extras: [], packages: ["flask"] },
    install: venv,
    start: `.venv/bin/flask run --port ${port}`,
  },
  go: { example: "go", install: [], start: "go run ." },
  php: { example: "php", install: [], start: `php -S 127.0.0.1:${port} index.php` },
  laravel: { example: "laravel", install: [], start: `php -S 127.0.0.1:${port} serve.php` },
  curl: { example: "curl", install: [], start: "bash earn.sh 100000001" },
} as const satisfies Record<string, BotKind>;
export type BotKindName = keyof typeof botKinds;

export function isBotKind(name: string): name is BotKindName {
  return Object.hasOwn(botKinds, name);
}

/**
 * Makes the folder of a bot outside of the clone: the program of an example, and what it needs to be installed. `packed`: the
 * TypeScript package. Returns the commands that prepare and start it.
 */
export async function makeBot(
  name: BotKindName,
  folder: string,
  pack: () => Promise<string>,
): Promise<{ install: readonly string[]; start: string }> {
  const kind: BotKind = botKinds[name];
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0))
    throw new Problem(`${folder} exists, and is not an empty folder.`, "Name another one, or remove it.");
  const source = join(root, "examples", kind.example);
  const isSource = (file: string) =>
    statSync(join(source, file)).isFile() &&
    !/(^|\/)(node_modules|dist|vendor|__pycache__)\/|_test\.go$|\.sqlite/.test(file);
  for (const file of kind.files ?? globSync("**/*", { cwd: source }).filter(isSource)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(source, file), join(folder, file));
  }
  if (existsSync(join(folder, "package.json"))) {
    copyFileSync(await pack(), join(folder, "intermission-publisher.tgz"));
    rewrite(join(folder, "package.json"), (text) => ownManifest(text));
    if (existsSync(join(folder, "tsconfig.json")))
      copyFileSync(join(root, "examples/tsconfig.json"), join(folder, "tsconfig.json"));
  }
  if (existsSync(join(folder, "go.mod")))
    rewrite(join(folder, "go.mod"), (text) => text.replace("../../clients/go", join(root, "clients/go")));
  if (kind.python) {
    const { extras, packages } = kind.python;
    const client = `intermission-ads${extras.length > 0 ? `[${extras}]` : ""} @ file://${join(root, "clients/python")}`;
    writeFileSync(join(folder, "requirements.txt"), `${[client, ...packages].join("\n")}\n`);
  }
  return { install: kind.install, start: kind.start };
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

/** The manifest of an example without what only the workspace knows. */
function ownManifest(text: string): string {
  const { scripts, dependencies, devDependencies } = JSON.parse(text);
  const catalog = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const versionOf = (name: string) =>
    new RegExp(`^  '?${name.replaceAll("/", "\\/")}'?: (\\S+)$`, "m").exec(catalog)?.[1] ?? "latest";
  const resolved = (packages: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(packages).map(([name, version]) => [
        name,
        version.startsWith("workspace:") ? "file:intermission-publisher.tgz" : versionOf(name),
      ]),
    );
  const own = { name: "my-bot", private: true, type: "module", scripts };
  const all = { ...own, dependencies: resolved(dependencies), devDependencies: resolved(devDependencies) };
  return `${JSON.stringify(all, null, 2)}\n`;
}

/** What to do next, for a terminal. */
export function nextSteps(
  folder: string,
  { install, start }: { readonly install: readonly string[]; readonly start: string },
  options: { readonly botId: string; readonly dataDirectory: string; readonly isStarting: boolean },
): string {
  const { botId, dataDirectory, isStarting } = options;
  const first = [
    "Start an ad service with the bot, here; any number will do as its id:\n",
    `  npm start -- --bot ${botId} --webhook-url http://127.0.0.1:3000/webhooks/ads\n`,
  ];
  return [
    `\n${relative(process.cwd(), folder) || "."} has the program of a bot.`,
    ...(isStarting ? [] : first),
    `${isStarting ? "Once" : "When"} the ad service runs, in another terminal:\n`,
    ...[`cd ${folder}`, ...install, `. ${join(dataDirectory, `bot-${botId}.env`)}`, start].map((line) => `  ${line}`),
  ].join("\n");
}
