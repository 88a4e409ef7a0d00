import { test as base } from "./stack.ts";

/**
 * For flows of the console: a stack that they do not share with flows of viewers, since they add bots, and pause and archive
 * campaigns. They share it with one another: each file's bots, advertisers and campaigns have names of their own. Playwright
 * starts a new worker for a worker fixture that the others do not have.
 */
export const test = base.extend<object, { ownStack: boolean }>({ ownStack: [true, { option: true, scope: "worker" }] });
export { expect } from "./stack.ts";
