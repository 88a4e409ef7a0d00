/**
 * Refuses a change of the ad service's APIs that breaks a client of the last release, unless the changelog announces it.
 * `--write` makes the present documents those of the release: run it when a version is released.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiDocuments, publishedApis } from "./api-documents.ts";
import { breakingChanges, unannounced } from "./breaking-changes.ts";
import { root, runCommand } from "./processes.ts";

const pathOf = (api: string) => join(root, "scripts/released-apis", `${api}.json`);

/** A document without its texts, examples and refusals, which break no client: a tenth as long. */
function withoutTexts(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutTexts(one));
  if (typeof value !== "object" || value === null) return value;
  const isNamed = key === "properties" || key === "schemas";
  const kept = Object.entries(value).filter(([name]) => {
    if (isNamed) return true;
    return (
      !["description", "summary", "example", "examples", "headers", "tags"].includes(name) && !/^[345]\d\d$/.test(name)
    );
  });
  const answer = key === "responses" ? { description: "" } : {};
  return Object.fromEntries(
    kept.map(([name, one]) => [
      name,
      key === "responses" ? { ...answer, ...(withoutTexts(one, name) as object) } : withoutTexts(one, name),
    ]),
  );
}

const documents = await apiDocuments();
if (process.argv.includes("--write")) {
  for (const api of publishedApis) writeFileSync(pathOf(api), `${JSON.stringify(withoutTexts(documents[api]))}\n`);
  await runCommand("biome", ["format", "--write", "scripts/released-apis"]);
} else {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const changes = publishedApis.flatMap((api) =>
    breakingChanges(JSON.parse(readFileSync(pathOf(api), "utf8")), documents[api]),
  );
  const sentences = unannounced(changes, changelog);
  for (const sentence of sentences) console.error(sentence);
  if (sentences.length > 0) process.exitCode = 1;
}
