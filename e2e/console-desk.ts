import { devices, type Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { test as base, expect } from "./console-stack.ts";

/**
 * The console of the worker's stack in a window of its own, signed in by `signIn`: as its owner, if the test says nothing
 * else. Console errors, and requests to other origins fail the test.
 */
export const test = base.extend<{
  desk: Page;
  window: { width: number; height: number };
  signIn: (stack: DemoStack) => Promise<string>;
}>({
  window: [{ width: 1280, height: 800 }, { option: true }],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
  signIn: async ({}, use) => {
    await use((stack) => stack.signInLink());
  },
  async desk({ stack, browser, window, colorScheme, locale, signIn }, use) {
    const context = await browser.newContext({
      viewport: window,
      userAgent: devices["Desktop Chrome"].userAgent,
      isMobile: false,
      hasTouch: false,
      colorScheme,
      ...(locale !== undefined && { locale }),
    });
    const page = await context.newPage();
    const faults: string[] = [];
    // The browser reports the refusal (409) with which the server asks for a confirmation.
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("status of 409")) faults.push(message.text());
    });
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(await signIn(stack));
    await page.waitForURL(/\/console\/?$/);
    await page.locator("h1").waitFor();
    const { origin } = new URL(page.url());
    page.on("request", (request) => {
      const address = new URL(request.url());
      if (address.protocol.startsWith("http") && address.origin !== origin) faults.push(`requested ${address}`);
    });
    await use(page);
    expect(faults).toEqual([]);
    await context.close();
  },
});
