/**
 * Fails if the catalogs of words differ: a language lacks a message or has one that English does not have, a message has other
 * values than the English one, or not the plural forms of its language. Also fails if no code says a message, or if the types of
 * the values are not those of the English messages; `--write` writes these.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultsOfCatalogs, type Source, type Tree, valueTypes } from "./catalogs-of-words.ts";
import { root } from "./processes.ts";

/** The catalogs: `en.json` is the source of the other languages, `values.ts` beside it the types of its values. */
const apps = [
  {
    folder: "apps/console/src/words",
    saidIn: ["apps/console/src", "packages/operator-api/src", "packages/ad-core/src"],
    chosen: ["categories"],
  },
];

const faults = apps.flatMap(({ folder, saidIn, chosen }) => {
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith(".json"));
  const trees = new Map(files.map((file) => [file.replace(".json", ""), treeIn(join(root, folder, file))]));
  const ofCatalogs = faultsOfCatalogs({ trees, sources: saidIn.flatMap(sourcesIn), chosen });
  return [...ofCatalogs, ...valuesFaults(folder, trees.get("en") ?? {})].map((fault) => `${folder}/${fault}`);
});
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

function treeIn(file: string): Tree {
  return JSON.parse(readFileSync(file, "utf8"));
}

function sourcesIn(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /[.]tsx?$/.test(file) && !/[.]test[.]|^words\/values[.]ts$/.test(file))
    .map((file) => ({ folder, text: readFileSync(join(root, folder, file), "utf8") }));
}

function valuesFaults(folder: string, english: Tree): string[] {
  const file = join(root, folder, "values.ts");
  const written = valueTypes(english);
  if (process.argv.includes("--write")) writeFileSync(file, written);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== written)
    return ["values.ts: differs from the values in en.json; npm run fix writes it"];
  return [];
}
