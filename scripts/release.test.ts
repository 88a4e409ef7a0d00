import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { withImage } from "./pack-deploy.ts";
import { root } from "./processes.ts";

const { jobs } = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8"));
const image = "registry.example.com/intermission";
const digest = `sha256:${"0".repeat(64)}`;

/** A folder in place of the runner's. */
function openRunner(): string {
  const folder = mkdtempSync(join(tmpdir(), "intermission-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "digest"), digest);
  return folder;
}

/** Runs a step of the job that releases the servers, unchanged. */
function runStep(name: string, runner: string): void {
  const { run } = jobs.servers.steps.find((step: { name?: string }) => step.name === name);
  const env = { ...process.env, RUNNER_TEMP: runner, IMAGE: image };
  execFileSync("bash", ["-e", "-c", run], { cwd: root, env, stdio: "pipe" });
}

test("a release's archive has compose.yaml with the image by its digest, and no file of a deployment", () => {
  const runner = openRunner();
  runStep("archive", runner);
  const archive = join(runner, "release/intermission-deploy.tar.gz");
  const bytes = readFileSync(archive);
  runStep("archive", runner);
  expect(readFileSync(archive).equals(bytes)).toBe(true);
  execFileSync("tar", ["--extract", "--file", archive, "--directory", runner]);
  const folder = join(runner, "intermission-deploy");
  const { services } = parse(readFileSync(join(folder, "compose.yaml"), "utf8"), { merge: true });
  for (const node of ["ad-service-1", "ad-service-2", "api-1", "api-2"]) {
    expect(services[node].image).toBe(`${image}@${digest}`);
    expect(services[node].build).toBeUndefined();
  }
  // The archive has all files that compose.yaml mounts, except the secrets that the recipe writes.
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(["LICENSE", "proxy", "back-up-postgres.sh"]));
  expect(readdirSync(folder)).not.toEqual(expect.arrayContaining(["Dockerfile"]));
  for (const name of [".env", "secrets", "bot.json"]) expect(readdirSync(folder)).not.toContain(name);
});

test("the image replaces nothing else in compose.yaml", () => {
  const before = parse(readFileSync(join(root, "deploy/compose.yaml"), "utf8"), { merge: true });
  const after = parse(withImage(readFileSync(join(root, "deploy/compose.yaml"), "utf8"), "x:1"), { merge: true });
  for (const [name, { build: _, image, ...service }] of Object.entries<{ build?: unknown; image: string }>(
    before.services,
  ))
    expect(after.services[name], name).toEqual({
      ...service,
      image: image.startsWith("intermission:") ? "x:1" : image,
    });
  expect(() => withImage("services: { a: { image: b } }", "x:1")).toThrow("no service");
});

test("a release's list of packages (SPDX 2.3) has what the servers and pages are made of, and no tool of their tests", {
  tags: "long",
}, () => {
  const runner = openRunner();
  runStep("SBOM", runner);
  const file = readFileSync(join(runner, "release/intermission.spdx.json"), "utf8");
  const { spdxVersion, packages } = JSON.parse(file) as { spdxVersion: string; packages: { name: string }[] };
  expect(spdxVersion).toBe("SPDX-2.3");
  const listed = new Set(packages.map(({ name }) => name));
  for (const app of ["ad-service", "api", "miniapp", "console"]) {
    const manifest = readFileSync(join(root, "apps", app, "package.json"), "utf8");
    for (const name of Object.keys(JSON.parse(manifest).dependencies)) expect([...listed], app).toContain(name);
  }
  expect(listed.has("vitest")).toBe(false);
});

test("the first step of the release of the servers compares the tag with their version", () => {
  const [check] = jobs.servers.steps.flatMap(({ run }: { run?: string }) => run ?? []);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const statusWith = (tag: string) => {
    try {
      execFileSync("bash", ["-e", "-c", check], { cwd: root, env: { ...process.env, GITHUB_REF_NAME: tag } });
      return 0;
    } catch {
      return 1;
    }
  };
  expect([statusWith(`v${version}`), statusWith("v99.0.0")]).toEqual([0, 1]);
});
