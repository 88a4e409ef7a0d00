import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPython } from "./find-programs.ts";
import { root } from "./processes.ts";
import { addressedPackage, addressedProject, readAddress } from "./write-project-address.ts";

const address = readAddress("https://code.example/team/intermission");
const read = (file: string) => readFileSync(join(root, file), "utf8");

describe("the published package for TypeScript", () => {
  const text = read("packages/publisher/package.json");
  const written = addressedPackage(text, address, "packages/publisher");

  test("names its repository, its page and where faults are reported, and keeps all else", () => {
    expect(JSON.parse(written)).toEqual({
      ...JSON.parse(text),
      repository: {
        type: "git",
        url: "git+https://code.example/team/intermission.git",
        directory: "packages/publisher",
      },
      homepage: "https://code.example/team/intermission/tree/main/packages/publisher#readme",
      bugs: { url: "https://code.example/team/intermission/issues" },
    });
    expect(addressedPackage(written, address, "packages/publisher")).toBe(written);
  });

  test("has what a registry shows of it beside the address", () => {
    expect(JSON.parse(text)).toMatchObject({
      description: expect.any(String),
      license: "Apache-2.0",
      sideEffects: false,
      engines: { node: ">=20.3" },
      keywords: expect.arrayContaining(["telegram", "rewarded-ads", "webhook"]),
    });
  });
});

const python = findPython(["setuptools"]);
if ("missing" in python) console.log(`!!! The metadata of the Python package was not built: ${python.missing}`);

test.skipIf("missing" in python)(
  "the Python package's metadata has its address, keywords and classifiers",
  { tags: "long" },
  () => {
    const scratch = mkdtempSync(join(tmpdir(), "intermission-metadata-"));
    onTestFinished(() => rmSync(scratch, { recursive: true, force: true }));
    cpSync(join(root, "clients/python"), scratch, { recursive: true });
    const once = addressedProject(read("clients/python/pyproject.toml"), address, "clients/python");
    expect(addressedProject(once, address, "clients/python")).toBe(once);
    writeFileSync(join(scratch, "pyproject.toml"), once);
    const program = "import setuptools; setuptools.setup(script_args=['-q', 'egg_info'])";
    const made = spawnSync("path" in python ? python.path : "", ["-W", "ignore", "-c", program], {
      cwd: scratch,
      encoding: "utf8",
    });
    expect(made.status, made.stderr).toBe(0);
    const metadata = readFileSync(join(scratch, "src/intermission_ads.egg-info/PKG-INFO"), "utf8");
    for (const line of [
      "Name: intermission-ads",
      "Project-URL: Homepage, https://code.example/team/intermission/tree/main/clients/python",
      "Project-URL: Repository, https://code.example/team/intermission",
      "Project-URL: Issues, https://code.example/team/intermission/issues",
      "Project-URL: Changelog, https://code.example/team/intermission/blob/main/CHANGELOG.md",
      "Requires-Python: >=3.10",
      "Classifier: License :: OSI Approved :: Apache Software License",
      "Classifier: Programming Language :: Python :: 3.10",
      "Classifier: Typing :: Typed",
      "Description-Content-Type: text/markdown",
    ])
      expect(metadata.split("\n")).toContain(line);
    expect(metadata).toMatch(/^Keywords: .*telegram.*rewarded-ads/m);
  },
);

test.each(["", "intermission", "http://code.example/team/intermission", "https://code.example", "git@host:team/x.git"])(
  "%j is refused as the project's address, with an example",
  (text) => expect(() => readAddress(text)).toThrow(`"${text}" is not the address of a repository, such as https://`),
);

test.each(["https://code.example/team/intermission.git", "https://code.example/team/intermission/"])(
  "%s is read as the page of the repository",
  (text) => expect(readAddress(text).repository).toBe(address.repository),
);

test("a release publishes with provenance what was tested, from the tag of its version", () => {
  const workflow = read(".github/workflows/release.yml");
  const jobs = workflow.split(/^ {2}(?=\w+:$)/m);
  const jobOf = (name: string) => jobs.find((job) => job.startsWith(`${name}:`)) ?? "";
  for (const name of ["npm", "pypi"]) {
    const job = jobOf(name);
    expect(job, name).toContain("id-token: write");
    expect(job, name).toContain('node scripts/write-project-address.ts "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"');
    expect(job.indexOf("npm test -- "), `${name} is tested before it is packed`).toBeGreaterThan(0);
    expect(job.indexOf("npm test -- "), name).toBeLessThan(job.indexOf("write-project-address"));
    expect(job, name).toContain('test "$GITHUB_REF_NAME" =');
  }
  expect(jobOf("npm")).toMatch(/npm publish --provenance --access public/);
  expect(jobOf("pypi")).toMatch(/gh-action-pypi-publish@[\s\S]*attestations: true/);
  // Secrets are not needed: both registries know the workflow (trusted publishing).
  for (const name of ["npm", "pypi"]) expect(jobOf(name), name).not.toMatch(/secrets\.|TOKEN/);
  expect(workflow.match(/secrets\.\w+/g)).toEqual(["secrets.IMAGE_USER", "secrets.IMAGE_PASSWORD"]);
});
