import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { aptInstall } from "./find-browser.ts";
import { step } from "./say.ts";

/** Where a program is, or why not and which command installs it. */
export type Found = { readonly path: string } | { readonly missing: string };

const debianPackages = {
  httpx: "python3-httpx",
  fastapi: "python3-fastapi",
  pytest: "python3-pytest",
  uvicorn: "python3-uvicorn",
  django: "python3-django",
  flask: "python3-flask",
  setuptools: "python3-setuptools",
};
/** Of which Debian has no package, or only an older one: what to import, and what to install. */
const pipPackages = {
  aiogram: { statement: "import aiogram", name: "aiogram" },
  telegram: { statement: "from telegram.ext import ApplicationBuilder", name: "'python-telegram-bot>=20'" },
};
/** A module of Python that this project's tests or examples need. */
type PythonModule = keyof typeof debianPackages | keyof typeof pipPackages;

const isFromPip = (name: PythonModule): name is keyof typeof pipPackages => name in pipPackages;

const works = (command: string, ...words: string[]) => spawnSync(command, words, { timeout: 60_000 }).status === 0;

/** Engines that Playwright does not drive, and the programs that each needs. */
const programsOfEngines = { WebKitGTK: ["WebKitWebDriver", "xvfb-run"], Firefox: ["firefox-esr"] } as const;

export function findEngine(name: keyof typeof programsOfEngines): Found {
  const missing = programsOfEngines[name].filter((program) => !isHere(program));
  const packages = missing.map((program) => programs[program]).join(" ");
  return missing.length === 0 ? { path: name } : { missing: `no ${name}. Enable it: apt-get install ${packages}` };
}

const isHere = (program: string) => existsSync(program) || spawnSync("which", [program]).status === 0;

/** A Python that has these modules: `PYTHON`, that of the path, or the system's, for which Debian's packages are. */
export function findPython(modules: readonly PythonModule[]): Found {
  const isNewEnough = "import sys; assert sys.version_info >= (3, 10)";
  const checks = [
    isNewEnough,
    ...modules.map((name) => (isFromPip(name) ? pipPackages[name].statement : `import ${name}`)),
  ].join("; ");
  const candidates = [process.env.PYTHON, "python3", "/usr/bin/python3"].filter((one) => one !== undefined);
  const path = candidates.find((candidate) => works(candidate, "-c", checks));
  if (path !== undefined) return { path };
  const pip = `pip install ${modules.map((name) => (isFromPip(name) ? pipPackages[name].name : name)).join(" ")}`;
  const apt = modules.flatMap((name) => (isFromPip(name) ? [] : [debianPackages[name]]));
  const command = modules.some(isFromPip) ? pip : `apt-get install ${apt.join(" ")}, or ${pip}`;
  return { missing: `no Python 3.10 or newer with ${modules.join(", ")}. Enable it: ${command}` };
}

export function findGo(): Found {
  if (works("go", "version")) return { path: "go" };
  return { missing: "Go is not installed. Enable it: apt-get install golang-go" };
}

export function findPhp(): Found {
  if (works("php", "--version")) return { path: "php" };
  return { missing: "PHP is not installed. Enable it: apt-get install php-cli" };
}

/** Debian has Laravel's components, not the whole framework. */
const laravelPackages = [
  ...["config", "container", "database", "events", "http", "routing", "support"].map(
    (name) => `php-illuminate-${name}`,
  ),
  "php-guzzlehttp-guzzle",
  "php-sqlite3",
];

/** A PHP with the components of Laravel that `examples/laravel` runs on. */
export function findLaravel(): Found {
  const components = ["Illuminate/Routing", "Illuminate/Database", "Illuminate/Config", "GuzzleHttp"];
  const needs = components.map((name) => `require '${name}/autoload.php';`).join(" ");
  if (works("php", "-d", "error_reporting=0", "-r", `${needs} exit(extension_loaded('pdo_sqlite') ? 0 : 1);`))
    return { path: "php" };
  return { missing: `Laravel's components are not installed. Enable it: apt-get install ${laravelPackages.join(" ")}` };
}

/** By the program that shows whether the package is there. */
const programs = {
  ffmpeg: "ffmpeg",
  buildah: "buildah",
  podman: "podman",
  "podman-compose": "podman-compose",
  runc: "runc",
  mmdebstrap: "mmdebstrap",
  "/usr/lib/cni/dnsname": "golang-github-containernetworking-plugin-dnsname",
  caddy: "caddy",
  promtool: "prometheus",
  pgbackrest: "pgbackrest",
  faketime: "faketime",
  fish: "fish",
  zsh: "zsh",
  "/usr/sbin/mkfs.xfs": "xfsprogs",
  patroni: "patroni",
  etcd: "etcd-server",
  "/usr/sbin/haproxy": "haproxy",
  "firefox-esr": "firefox-esr",
  WebKitWebDriver: "webkit2gtk-driver",
  "xvfb-run": "xvfb",
  "/usr/share/doc/gstreamer1.0-libav": "gstreamer1.0-libav",
};

/**
 * In CI, installs the missing programs that tests need, those of the long tests as well: what is missing is skipped, so no test
 * is skipped in both of CI's commands. Elsewhere the tests name what they miss.
 */
export async function installPrograms(): Promise<void> {
  if (process.env.CI !== "true" || !existsSync("/usr/bin/apt-get")) return;
  const packages = [
    ...("missing" in findPython(["httpx", "fastapi", "pytest", "uvicorn", "django", "flask", "setuptools"])
      ? Object.values(debianPackages)
      : []),
    ...("missing" in findGo() ? ["golang-go"] : []),
    ...("missing" in findPhp() ? ["php-cli"] : []),
    ...("missing" in findLaravel() ? laravelPackages : []),
    // For pg_dump.
    ...(existsSync("/usr/lib/postgresql") ? [] : ["postgresql"]),
    // Not in the path of people who are not root.
    ...(works("nginx", "-v") || works("/usr/sbin/nginx", "-v") ? [] : ["nginx-light"]),
    ...(works("pgbouncer", "--version") || works("/usr/sbin/pgbouncer", "--version") ? [] : ["pgbouncer"]),
    ...Object.entries(programs).flatMap(([program, name]) => (isHere(program) ? [] : [name])),
  ];
  if (packages.length === 0) return;
  // A machine without a package mirror still runs everything else; the tests of a missing program say that they did not run.
  await step(packages.join(", "), () => aptInstall(...packages)).catch((error: unknown) => {
    console.log(`\n!!! NOT INSTALLED: ${packages.join(", ")}. ${error instanceof Error ? error.message : error}\n`);
  });
}
