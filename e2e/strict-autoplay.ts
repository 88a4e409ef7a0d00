import { test as base } from "./stack.ts";

/** A browser stricter than any client's: nothing plays without a gesture, muted or not. */
export const test = base.extend({
  launchOptions: [
    async ({ launchOptions }, use) => {
      await use({ ...launchOptions, args: [...(launchOptions.args ?? []), "--autoplay-policy=user-gesture-required"] });
    },
    { scope: "worker" },
  ],
});
