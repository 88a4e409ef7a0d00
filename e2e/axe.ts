import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Frame, Page } from "@playwright/test";
import type { AxeResults, RunOptions } from "axe-core";

declare global {
  interface Window {
    axe: { run(options: RunOptions): Promise<AxeResults> };
  }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What axe finds in the page and in its frames, each a document of its own: as `rule at element`, and how many rules passed.
 * Deque's own package for Playwright opens a further page for each analysis, which takes longer than the analysis.
 */
export async function analyze(
  page: Pick<Page, "frames">,
  rules?: string[],
): Promise<{ violations: string[]; passedRules: number }> {
  const results = { violations: [] as string[], passedRules: 0 };
  for (const frame of page.frames()) {
    const found = await analyzeFrame(frame, rules);
    results.violations.push(...found.violations);
    results.passedRules += found.passedRules;
  }
  return results;
}

async function analyzeFrame(frame: Frame, rules: string[] | undefined) {
  if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(axeSource);
  return frame.evaluate(async (rules) => {
    // The pages have no external resources, so axe need not preload any.
    const { violations, passes } = await window.axe.run({
      preload: false,
      iframes: false,
      resultTypes: ["violations"],
      ...(rules && { runOnly: rules }),
    });
    return {
      violations: violations.map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target).join(", ")}`),
      passedRules: passes.length,
    };
  }, rules);
}

/** What axe finds in each of these states of the gallery. */
export async function analyzeStates(
  page: Page,
  options: { states: string[]; shown: { theme: string; language: string }; rules: string[] | undefined },
): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async ({ states, shown, rules }) => {
    const found: string[] = [];
    for (const state of states) {
      await window.showState({ state, ...shown });
      const { violations } = await window.axe.run({
        preload: false,
        resultTypes: ["violations"],
        ...(rules && { runOnly: rules }),
      });
      for (const { id, nodes } of violations)
        found.push(`${state}: ${id} at ${nodes.map(({ target }) => target).join(", ")}`);
    }
    return found;
  }, options);
}
