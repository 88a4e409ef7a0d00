import { test } from "./strict-autoplay.ts";
import { manners, platforms, versions } from "./telegram-client.ts";
import { watchToTheReward } from "./watch-in-telegram.ts";

// Each version, platform and manner once, in parallel; the long run tests all combinations.
test("clients of every version and platform lead to the reward, however they deliver events", { tag: "@long" }, async ({
  api,
  newDevice,
  stack,
  userId,
}) => {
  test.setTimeout(120_000);
  await Promise.all(
    versions.map(async (version, index) => {
      const client = { version, platform: platforms[index] ?? "android", manner: manners[index] ?? "prompt" };
      await watchToTheReward({ api, stack, context: await newDevice(), userId: `${userId}${index}`, client });
    }),
  );
});
