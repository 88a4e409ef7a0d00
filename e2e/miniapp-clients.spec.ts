import { test } from "./strict-autoplay.ts";
import { manners, platforms, versions } from "./telegram-client.ts";
import { watchToTheReward } from "./watch-in-telegram.ts";

// A square in which each two of version, platform and manner meet once; those of a version run side by side.
for (const [row, version] of versions.entries()) {
  test(`clients of version ${version} lead to the reward, whatever their events do`, async ({
    api,
    context,
    stack,
    userId,
  }) => {
    test.setTimeout(120_000);
    await Promise.all(
      platforms.map((platform, column) => {
        const manner = manners[(row + column) % manners.length] ?? "prompt";
        const client = { version, platform, manner };
        return watchToTheReward({ api, stack, context, userId: `${userId}${column}`, client });
      }),
    );
  });
}
