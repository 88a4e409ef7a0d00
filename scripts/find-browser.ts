import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "@playwright/test";
import { runCommand } from "./processes.ts";
import { Problem } from "./say.ts";

/** Playwright's own choice, too: the same engine without windows. A flow takes a third less of the processor in it. */
const headlessShell = "chromium-headless-shell";
const fullNames = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const usualPlaces = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

function installedBrowser(names = [headlessShell, ...fullNames]): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/snap/bin"];
  const candidates = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...usualPlaces];
  return candidates.find((candidate) => existsSync(candidate));
}

/**
 * The path of a Chromium or Chrome: CHROMIUM_PATH, an installed one (the headless shell first), Playwright's own, or Debian's
 * by apt-get. It must play H.264, which Debian's and Google's builds can.
 */
export async function findBrowser(): Promise<string> {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined) {
    if (existsSync(named)) return named;
    throw new Problem(
      `CHROMIUM_PATH is ${named}, which does not exist.`,
      "Correct it, or unset it to search for a browser automatically.",
    );
  }
  const installed = installedBrowser();
  // In CI the shell is worth its installation. A machine without a package mirror uses what it has.
  if (process.env.CI === "true" && installed?.endsWith(headlessShell) === false)
    await installFromDebian(headlessShell).catch(() => {});
  const preferred = installedBrowser();
  if (preferred) return preferred;
  if (existsSync(chromium.executablePath())) return chromium.executablePath();
  const faults: string[] = [];
  const ways: (() => Promise<unknown>)[] = [
    () => installFromDebian(headlessShell),
    () => installFromDebian("chromium"),
    installFromPlaywright,
  ];
  for (const install of ways) {
    try {
      await install();
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
    const found = installedBrowser() ?? (existsSync(chromium.executablePath()) ? chromium.executablePath() : undefined);
    if (found) return found;
  }
  throw new Problem(
    `No Chromium or Chrome was found, and none could be installed.\n  ${faults.join("\n  ").slice(0, 2000)}`,
    "Install Chromium or Chrome, or set CHROMIUM_PATH to one, then run npm test again.",
  );
}

/** A browser with everything that the headless shell leaves out, such as estimates of the network. */
export async function findFullBrowser(): Promise<string> {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && !named.endsWith(headlessShell)) return named;
  const installed = () => installedBrowser(fullNames);
  if (installed() === undefined) await installFromDebian("chromium");
  const found = installed();
  if (found === undefined) throw new Problem("No Chromium or Chrome was found.", "Install one, or set CHROMIUM_PATH.");
  return found;
}

/** The shell is in Debian 12 and newer. */
async function installFromDebian(name: string): Promise<void> {
  if (!existsSync("/usr/bin/apt-get")) throw new Error("there is no apt-get here");
  await aptInstall(name);
}

async function installFromPlaywright(): Promise<void> {
  await runCommand("playwright", ["install", "chromium"]);
}

/** Installs Debian packages if this user may: as root, or with a sudo that needs no password. */
export async function aptInstall(...packages: readonly string[]): Promise<void> {
  const prefix = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const apt = async (...words: string[]) => {
    const [command = "apt-get", ...rest] = [...prefix, "apt-get", ...words];
    await runCommand(command, rest, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  };
  await apt("update");
  await apt("install", "-y", "--no-install-recommends", ...packages);
}
