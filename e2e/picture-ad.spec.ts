import { join } from "node:path";
import { root } from "../scripts/processes.ts";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

const picture = join(root, "docs/images/chat.jpg");

test("a picture is sold as an ad: it is shown for its seconds, counted and paid like a video, and nothing is suspicious", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  const added = JSON.parse(await stack.ads(["creatives", "add", picture, "--picture-seconds", "5", "--json"]));
  expect(added).toMatchObject({ durationMs: 5000, mediaType: "video/mp4" });
  const campaign = [
    "--name",
    "Picture",
    "--advertiser",
    "Painter",
    "--priority",
    "sponsorship",
    "--format",
    "rewarded",
  ];
  const { campaignId } = JSON.parse(
    await stack.ads(["campaigns", "add", ...campaign, "--creative", added.creativeId, "--json"]),
  );
  try {
    await openWithNewCode({ api, page, stack, userId });
    await watchToTheEnd(page);
    expect(await page.locator("video").evaluate((video: HTMLVideoElement) => video.currentSrc)).toContain("/media/");
    await closeAndGet(page);
    await expectPaidOnce(api, userId, "rewarded");
    const suspicious = JSON.parse(await stack.ads(["views", "list", "--json"]));
    expect(JSON.stringify(suspicious)).not.toContain(campaignId);
  } finally {
    await stack.ads(["campaigns", "archive", campaignId]);
  }
});
