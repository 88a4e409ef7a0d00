import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SIGNATURE_TEST_USER_AGENT } from "@intermission/ad-core/webhook-refusal";
import { devices, type Locator, type Page } from "@playwright/test";
import { test as base, expect } from "./console-stack.ts";
import { faultsOf } from "./page-faults.ts";

export { expect };

/** What a reader of the console does, counted: a click, a key, or typing a text is one step. */
export class Reader {
  readonly page: Page;
  steps = 0;
  constructor(page: Page) {
    this.page = page;
  }
  async open(path = ""): Promise<void> {
    await this.page.goto(path);
    this.steps = 0;
  }
  async click(target: Locator): Promise<void> {
    this.steps += 1;
    await target.click();
  }
  async choose(target: Locator, label: string): Promise<void> {
    this.steps += 1;
    await target.selectOption({ label });
  }
  async press(key: string): Promise<void> {
    this.steps += 1;
    await this.page.keyboard.press(key);
  }
  async type(text: string): Promise<void> {
    this.steps += 1;
    await this.page.keyboard.type(text);
  }
  section(name: string): Locator {
    return this.page.getByRole("navigation").getByRole("link", { name, exact: true });
  }
  row(name: string): Locator {
    return this.page.getByRole("row").filter({ has: this.page.getByRole("link", { name, exact: true }) });
  }
}

/**
 * The console of the worker's stack in a window of a desk, or of another size (`window`). Its reader is signed in as the
 * owner, or as the person with this e-mail address (`signedInAs`). Console errors, requests to other origins and violations
 * of the policy fail the test. `desk` is the reader's page, for flows that count nothing.
 */
export const test = base.extend<{
  reader: Reader;
  desk: Page;
  window: { width: number; height: number };
  signedInAs: string | undefined;
  /** The status of refusals that the flow causes, beside that of a request for a confirmation (409). */
  refusal: number | undefined;
}>({
  window: [{ width: 1280, height: 800 }, { option: true }],
  signedInAs: [undefined, { option: true }],
  refusal: [undefined, { option: true }],
  reader: async ({ stack, ownerState, browser, window, colorScheme, locale, timezoneId, signedInAs, refusal }, use) => {
    const address = stack.urls.adService.replace("127.0.0.1", "localhost");
    const context = await browser.newContext({
      ...(signedInAs === undefined && { storageState: ownerState }),
      viewport: window,
      userAgent: devices["Desktop Chrome"].userAgent,
      isMobile: false,
      hasTouch: false,
      colorScheme,
      ...(locale !== undefined && { locale }),
      ...(timezoneId !== undefined && { timezoneId }),
      baseURL: `${address}/console/`,
    });
    const page = await context.newPage();
    // 409 is the server's question for a confirmation.
    const faults = faultsOf(page, [409, refusal]);
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith("http") && origin !== address) faults.push(`requested ${request.url()}`);
    });
    if (signedInAs !== undefined) {
      await page.goto(JSON.parse(await stack.ads(["people", "sign-in-link", signedInAs, "--json"])).link);
      await page.locator("#content h1").waitFor();
    }
    await use(new Reader(page));
    expect(faults).toEqual([]);
    await context.close();
  },
  desk: async ({ reader }, use) => {
    await reader.open();
    await reader.page.locator("#content h1").waitFor();
    await use(reader.page);
  },
});

/** The sizes in which flows are tried; in that of a phone in the long set. */
export const windows: readonly { name: string; size: { width: number; height: number }; tag: string[] }[] = [
  { name: "desk", size: { width: 1280, height: 800 }, tag: [] },
  { name: "phone", size: { width: 390, height: 844 }, tag: ["@long"] },
];

/** Requests by this method to these addresses are under way until the returned function is called. */
export async function hold(page: Page, method: "GET" | "PATCH", addresses: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    if (route.request().method() === method) await promise;
    await route.continue();
  });
  return resolve;
}

/** Opens an object by the finder: the first one of those with this id that has the name, before what can be done with it. */
export async function find(page: Page, id: string, name: string): Promise<void> {
  await page.keyboard.press("ControlOrMeta+k");
  const finder = page.getByRole("dialog");
  await finder.getByRole("combobox").fill(id);
  await finder.getByRole("option").filter({ hasText: name }).first().click();
}

/** A publisher's webhook address that answers 500 until it is fixed, and counts what it has received. */
export async function openReceiver() {
  const state = { status: 500, received: [] as string[], url: "" };
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    // As a receiver that verifies does.
    if (request.headers["user-agent"] === SIGNATURE_TEST_USER_AGENT) return void response.writeHead(401).end();
    if (state.status === 200) state.received.push(String(request.headers["x-event-id"] ?? ""));
    response.writeHead(state.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  return {
    state,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
