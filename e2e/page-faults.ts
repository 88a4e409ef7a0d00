import type { Page } from "@playwright/test";

/**
 * What goes wrong in a page while it is used: errors of its code, and those that the browser reports, such as a refused request
 * (403: a screen asks for what its role may not read). `meant`: the status of refusals that the flow causes.
 */
export function faultsOf(page: Page, meant: readonly (number | undefined)[] = []): string[] {
  const faults: string[] = [];
  page.on("console", (message) => {
    const isMeant = meant.some((status) => message.text().includes(`status of ${status}`));
    if (message.type() === "error" && !isMeant)
      faults.push(`${message.text()} ${message.location().url} on ${page.url()}`);
  });
  page.on("pageerror", (error) => faults.push(`${error.message} on ${page.url()}`));
  return faults;
}
