/**
 * Packs `deploy` for a machine without a clone: `node scripts/pack-deploy.ts --image <reference> --to <file.tar.gz>`. In the
 * archive, compose.yaml names that image and builds nothing. The same commit and image make the same bytes.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseDocument, visit } from "yaml";
import { root } from "./processes.ts";
import { explain, Problem } from "./say.ts";

/** The folder in the archive. */
const FOLDER = "intermission-deploy";

/** The text of `compose.yaml` with this image for each service that the repository's Dockerfile builds. */
export function withImage(compose: string, image: string): string {
  const document = parseDocument(compose, { merge: true });
  let built = 0;
  visit(document, {
    Map(_, node) {
      if (!node.has("build")) return;
      node.delete("build");
      node.set("image", image);
      built += 1;
    },
  });
  if (built === 0) throw new Error("no service of compose.yaml has `build`");
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** Without a tag or a digest a registry returns its newest image, which changes with the next release. */
function checkImage(image: string | undefined): string {
  if (image !== undefined && /^[\w.-]+(:\d+)?(\/[\w.-]+)*(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(image)) return image;
  throw new Problem(
    image === undefined ? "--image is missing." : `--image ${image} has neither a tag nor a digest.`,
    "Name the image as a registry does, best by its digest: --image registry.example.com/intermission@sha256:…",
  );
}

function pack(image: string, file: string): void {
  const parent = mkdtempSync(join(tmpdir(), "intermission-deploy-"));
  const folder = join(parent, FOLDER);
  try {
    for (const file of deployFiles()) cpSync(join(root, "deploy", file), join(folder, file));
    const compose = readFileSync(join(root, "deploy/compose.yaml"), "utf8");
    writeFileSync(join(folder, "compose.yaml"), withImage(compose, image));
    cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
    mkdirSync(dirname(resolve(file)), { recursive: true });
    const same = [
      "--sort=name",
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      `--mtime=@${commitTime()}`,
      "--mode=u+rwX,go=rX",
    ];
    const tar = execFileSync("tar", ["--create", ...same, "--directory", parent, FOLDER], { maxBuffer: 64e6 });
    writeFileSync(file, execFileSync("gzip", ["--no-name", "-9"], { input: tar, maxBuffer: 64e6 }));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Only tracked files, since the folder may contain secrets. Manifests of Kubernetes are generated in a clone. */
function deployFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "."], { cwd: join(root, "deploy"), encoding: "utf8" });
  return listed.split("\n").filter((file) => file !== "" && file !== "Dockerfile" && !file.startsWith("kubernetes/"));
}

function commitTime(): string {
  return execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).trim();
}

function main(): void {
  const { values } = parseArgs({ options: { image: { type: "string" }, to: { type: "string" } } });
  const image = checkImage(values.image);
  if (values.to === undefined)
    throw new Problem("--to is missing.", "Name the archive: --to intermission-deploy.tar.gz");
  pack(image, values.to);
  console.log(`${values.to}: ${FOLDER} with ${image}`);
}

if (import.meta.main) {
  try {
    main();
  } catch (error) {
    explain(error);
  }
}
