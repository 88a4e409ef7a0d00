import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../scripts/processes.ts";

// Not a dependency: with its own dependencies it is larger than all others together, for a bench that few run.
const LIGHTHOUSE = "lighthouse@13.5.0";

interface LighthouseReport {
  categories: Record<string, { title: string; score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, { title: string; score: number | null; scoreDisplayMode: string }>;
}

export interface LighthouseScore {
  readonly category: string;
  readonly score: number;
  /** Failed audits that have a weight. */
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
      { env: { CHROME_PATH: chromePath }, nextStep: "If no package registry is reachable, use --without-lighthouse" },
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
