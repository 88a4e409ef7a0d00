import { test as base } from "./stack.ts";

/** A browser that is stricter than any client: no video plays without a gesture, muted or not. */
export const test = base.extend({
  launchOptions: [
    async ({ launchOptions }, use) => {
      await use({ ...launchOptions, args: [...(launchOptions.args ?? []), "--autoplay-policy=user-gesture-required"] });
    },
    { scope: "worker" },
  ],
});
