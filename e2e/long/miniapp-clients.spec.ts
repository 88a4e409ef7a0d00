import { test } from "../strict-autoplay.ts";
import { manners, platforms, versions } from "../telegram-client.ts";
import { leaveAndComeBack, watchToTheReward } from "../watch-in-telegram.ts";

/**
 * Every combination of version, platform and manner of events once: half of them watch to the end, half leave and come back.
 * In both flows every two of the three meet. The platforms of a test run in parallel, each with another manner.
 */
for (const [row, version] of versions.entries()) {
  for (const shift of manners.keys()) {
    const flow = shift % 2 === 0 ? watchToTheReward : leaveAndComeBack;
    const clients = platforms.map((platform, column) => ({
      version,
      platform,
      manner: manners[(row + column + shift) % manners.length] ?? "prompt",
    }));
    const shown = clients.map(({ platform, manner }) => `${manner} on ${platform}`).join(", ");
    test(`${flow.name}: clients of version ${version}, whose events are ${shown}`, async ({
      api,
      newDevice,
      stack,
      userId,
    }) => {
      await Promise.all(
        clients.map(async (client, place) =>
          flow({ api, stack, context: await newDevice(), userId: `${userId}${place}`, client }),
        ),
      );
    });
  }
}
