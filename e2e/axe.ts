import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import type { AxeResults, RunOptions } from "axe-core";

declare global {
  interface Window {
    axe: { run(options: RunOptions): Promise<AxeResults> };
  }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What axe finds in the page, each as `rule at element`, and how many rules passed. Deque's own package for Playwright opens a
 * further page for each analysis, which takes longer than the analysis; it looks into frames, of which these pages have none.
 */
export async function analyze(page: Page, rules?: string[]): Promise<{ violations: string[]; passedRules: number }> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  return page.evaluate(async (rules) => {
    if (document.querySelector("iframe") !== null) throw new Error("axe does not look into this page's frame");
    // The pages have no external resources, so axe need not preload any.
    const { violations, passes } = await window.axe.run({
      preload: false,
      resultTypes: ["violations"],
      ...(rules && { runOnly: rules }),
    });
    return {
      violations: violations.map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target).join(", ")}`),
      passedRules: passes.length,
    };
  }, rules);
}
