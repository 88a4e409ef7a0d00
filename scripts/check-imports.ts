/**
 * Checks the import rules on the source tree, then tests the rules: each must detect a violation that is planted for it in
 * a copy of the layout. Also fails if fewer modules were checked than the tree has.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import { importLayers } from "./import-layers.ts";
import { root } from "./processes.ts";

const { forbidden, options } = (await import(join(root, ".dependency-cruiser.cjs"))).default;
/** `no-folder-cycles` is checked here: dependency-cruiser's own rule includes tests, whose fixtures import every feature. */
const rules: string[] = [
  ...forbidden.map(({ name }: { name: string }) => name),
  "no-folder-cycles",
  "few-layers",
  "no-upward-imports",
];

async function cruiseFolder(folder: string): Promise<ICruiseResult> {
  const { output } = await cruise(
    ["apps", "packages"],
    { ...options, ruleSet: { forbidden }, validate: true, baseDir: folder },
    options.enhancedResolveOptions,
  );
  if (typeof output === "string") throw new Error("dependency-cruiser answered with a report instead of a result");
  return output;
}

/** Import cycles between features of an app, without tests. */
function folderCycles({ modules }: ICruiseResult): string[][] {
  const featureOf = (path: string) => /^apps\/[^/]+\/src\/[^/]+(?=\/)/.exec(path)?.[0];
  const imports = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = featureOf(source);
    if (from === undefined || /[.]test[.]tsx?$/.test(source)) continue;
    const found = imports.get(from) ?? new Set();
    imports.set(from, found);
    for (const { resolved } of dependencies) {
      const to = featureOf(resolved);
      if (to !== undefined && to !== from) found.add(to);
    }
  }
  const cycles: string[][] = [];
  const done = new Set<string>();
  function follow(feature: string, path: string[]): void {
    const start = path.indexOf(feature);
    if (start >= 0) cycles.push([...path.slice(start), feature]);
    if (start >= 0 || done.has(feature)) return;
    for (const next of imports.get(feature) ?? []) follow(next, [...path, feature]);
    done.add(feature);
  }
  for (const feature of imports.keys()) follow(feature, []);
  return cycles;
}

const MAX_LAYERS = 9;
/** Chains of imports that are too long, and imports of features by root files below them. */
function layerFaults(result: ICruiseResult): { rule: string; fault: string }[] {
  return importLayers(result).flatMap(({ app, longest, upward }) => {
    const chain = `${app} has ${longest.length} layers, at most ${MAX_LAYERS} are allowed: ${longest.join(" → ")}`;
    const edges = `${app} has ${upward.length} upward imports, none is allowed: ${upward.join(", ")}`;
    return [
      ...(longest.length > MAX_LAYERS ? [{ rule: "few-layers", fault: chain }] : []),
      ...(upward.length > 0 ? [{ rule: "no-upward-imports", fault: edges }] : []),
    ];
  });
}

const faults: string[] = [];
const sources = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "apps", "packages"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /\/src\/.*[.]tsx?$/.test(file));
const real = await cruiseFolder(root);
for (const { from, to, rule } of real.summary.violations) faults.push(`${rule.name}: ${from} → ${to}`);
for (const cycle of folderCycles(real)) faults.push(`no-folder-cycles: ${cycle.join(" → ")}`);
for (const { rule, fault } of layerFaults(real)) faults.push(`${rule}: ${fault}`);
if (real.summary.totalCruised < sources.length) {
  faults.push(`only ${real.summary.totalCruised} modules were checked, but the tree has ${sources.length}`);
}

/** For each rule, files that violate it. */
const planted: Record<string, Record<string, string>> = {
  "apps-never-import-apps": {
    "apps/api/src/a.ts": 'import "../../ad-service/src/b.ts";',
    "apps/ad-service/src/b.ts": "export const b = 1;",
  },
  "router-is-imported-as-types-only": {
    "apps/miniapp/src/a.ts": 'import { r } from "../../api/src/router.ts"; r;',
    "apps/api/src/router.ts": "export const r = 1;",
  },
  "packages-never-import-apps": {
    "packages/postgres/src/a.ts": 'import "../../../apps/api/src/b.ts";',
    "apps/api/src/b.ts": "export const b = 1;",
  },
  "ad-core-imports-nothing-of-ours": {
    "packages/ad-core/src/a.ts": 'import "../../postgres/src/b.ts";',
    "packages/postgres/src/b.ts": "export const b = 1;",
  },
  "ad-core-core-modules": { "packages/ad-core/src/code.ts": 'import { randomBytes } from "node:crypto"; randomBytes;' },
  "ad-core-crypto-only": {
    "packages/ad-core/src/signature.ts": 'import { readFileSync } from "node:fs"; readFileSync;',
  },
  "miniapp-without-secrets": {
    "apps/miniapp/src/a.ts":
      'import type { s } from "../../../packages/ad-core/src/signature.ts"; export type T = typeof s;',
    "packages/ad-core/src/signature.ts": "export const s = 1;",
  },
  "miniapp-without-zod": {
    "apps/miniapp/src/a.ts": 'import { c } from "../../../packages/ad-core/src/client-api.ts"; c;',
    "packages/ad-core/src/client-api.ts": "export const c = 1;",
  },
  "transports-in-app-and-router": {
    "apps/api/src/ledger/spend.ts": 'import "./procedures.ts";',
    "apps/api/src/ledger/procedures.ts": "export const p = 1;",
  },
  "nothing-imports-main": {
    "apps/api/src/app.ts": 'import "./main.ts";',
    "apps/api/src/main.ts": "export const m = 1;",
  },
  "verbs-know-no-config": {
    "apps/api/src/ledger/spend.ts": 'import { c } from "../config.ts"; c;',
    "apps/api/src/config.ts": "export const c = 1;",
  },
  "one-door-for-outgoing-http": { "apps/ad-service/src/codes/a.ts": 'import { Pool } from "undici"; Pool;' },
  "one-door-for-the-telegram-sdk": {
    "apps/miniapp/src/a.ts": 'import { init } from "@telegram-apps/sdk-react"; init;',
  },
  "no-grab-bags": { "apps/api/src/a.ts": 'import "./utils.ts";', "apps/api/src/utils.ts": "export const u = 1;" },
  "no-cycles": {
    "apps/api/src/ledger/a.ts": 'import { b } from "./b.ts"; export const a = b;',
    "apps/api/src/ledger/b.ts": 'import { a } from "./a.ts"; export const b = a;',
  },
  "no-folder-cycles": {
    "apps/api/src/ledger/a.ts": 'import { b } from "../codes/b.ts"; export const a = b;',
    "apps/api/src/codes/b.ts": "export const b = 1;",
    "apps/api/src/codes/c.ts": 'import { d } from "../ledger/d.ts"; export const c = d;',
    "apps/api/src/ledger/d.ts": "export const d = 1;",
  },
  "few-layers": Object.fromEntries(
    ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map((feature, index, all) => {
      const next = all[index + 1];
      const text = next === undefined ? "" : `import type { T } from "../${next}/${next}.ts"; export type U = T;`;
      return [`apps/api/src/${feature}/${feature}.ts`, `${text} export type T = 1;`];
    }),
  ),
  "no-upward-imports": {
    "apps/api/src/tables.ts": 'import type { B } from "./ledger/b.ts"; export type A = B;',
    "apps/api/src/ledger/a.ts": 'import type { A } from "../tables.ts"; export type C = A;',
    "apps/api/src/ledger/b.ts": "export type B = 1;",
  },
  "no-test-code-in-src": {
    "apps/api/src/main.ts": "export const m = 1;",
    "apps/api/src/ledger/a.ts": "export const a = 1;",
    "apps/api/src/ledger/a.test.ts": 'import "./a.ts";',
  },
  "no-unresolved": { "apps/api/src/a.ts": 'import "./nowhere.ts";' },
};

for (const name of rules) if (!planted[name]) faults.push(`${name}: no violation is planted for this rule`);

for (const [rule, files] of Object.entries(planted)) {
  const folder = mkdtempSync(join(tmpdir(), "import-rules-"));
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${text}\n`);
    }
    for (const top of ["apps", "packages"]) mkdirSync(join(folder, top), { recursive: true });
    for (const app of ["apps/ad-service", "apps/miniapp"]) {
      mkdirSync(join(folder, app), { recursive: true });
      writeFileSync(join(folder, app, "package.json"), readFileSync(join(root, app, "package.json")));
      symlinkSync(join(root, app, "node_modules"), join(folder, app, "node_modules"));
    }
    const result = await cruiseFolder(folder);
    const caught =
      rule === "no-folder-cycles"
        ? folderCycles(result).length > 0
        : [
            ...result.summary.violations.map((one) => one.rule.name),
            ...layerFaults(result).map((one) => one.rule),
          ].includes(rule);
    if (!caught) faults.push(`${rule}: the violation planted for it was not detected`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const fault of faults) console.error(fault);
for (const { app, longest, upward } of importLayers(real)) {
  console.log(`${app}: ${longest.length} layers (${longest.join(" → ")}), ${upward.length} upward imports`);
}
if (faults.length === 0)
  console.log(`${real.summary.totalCruised} modules, ${rules.length} rules, each tested with a planted violation`);
process.exit(faults.length === 0 ? 0 : 1);
