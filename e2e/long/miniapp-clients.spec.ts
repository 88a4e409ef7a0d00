import { test } from "../strict-autoplay.ts";
import { manners, platforms, versions } from "../telegram-client.ts";
import { leaveAndComeBack, watchToTheReward } from "../watch-in-telegram.ts";

// Each version on each platform with each manner of events; the platforms run in parallel.
for (const version of versions) {
  for (const manner of manners) {
    for (const flow of [watchToTheReward, leaveAndComeBack]) {
      test(`${flow.name}: clients of version ${version}, events ${manner}`, async ({
        api,
        newDevice,
        stack,
        userId,
      }) => {
        await Promise.all(
          platforms.map(async (platform, column) => {
            const client = { version, platform, manner };
            await flow({ api, stack, context: await newDevice(), userId: `${userId}${column}`, client });
          }),
        );
      });
    }
  }
}
