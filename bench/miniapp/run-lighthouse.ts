import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../scripts/processes.ts";

// Not a dependency: with what it needs it is larger than all else here together, for a bench that few run.
const LIGHTHOUSE = "lighthouse@13.5.0";

interface LighthouseReport {
  categories: Record<string, { title: string; score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, { title: string; score: number | null; scoreDisplayMode: string }>;
}

export interface LighthouseScore {
  readonly category: string;
  readonly score: number;
  /** What was found wanting and weighs something. */
  readonly misses: string[];
}

/** Lighthouse's four scores for a phone, by its own simulated slow network. */
export async function runLighthouse(url: string, chromePath: string): Promise<LighthouseScore[]> {
  const folder = mkdtempSync(join(tmpdir(), "intermission-lighthouse-"));
  const output = join(folder, "report.json");
  try {
    const flags = ["--quiet", "--output=json", `--output-path=${output}`, "--form-factor=mobile"];
    await runCommand(
      "npx",
      ["--yes", LIGHTHOUSE, url, ...flags, "--chrome-flags=--headless=new --no-sandbox --mute-audio"],
      { env: { CHROME_PATH: chromePath }, nextStep: "Without a registry leave it out: --without-lighthouse" },
    );
    const { categories, audits }: LighthouseReport = JSON.parse(readFileSync(output, "utf8"));
    return Object.values(categories).map(({ title, score, auditRefs }) => ({
      category: title,
      score: Math.round((score ?? 0) * 100),
      misses: auditRefs
        .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9)
        .map(({ id }) => audits[id]?.title ?? id),
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
