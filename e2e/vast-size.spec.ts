import type { Page } from "@playwright/test";
import { openWithNewCode } from "./open-miniapp.ts";
import { sendsVideo, test } from "./sell-tag.ts";
import { expect } from "./stack.ts";

/** An upright video of 180 × 320. */
const upright = await sendsVideo("clip-2s.mp4");
const lying = await sendsVideo("lying-2s.mp4");
const file = (size: string) => `<MediaFile delivery="progressive" type="video/mp4" ${size}>{self}/ad.mp4</MediaFile>`;

/** The box in which the picture is seen: `object-fit: contain` leaves the rest of the element black. */
const pictureBox = (page: Page) =>
  page.locator("video").evaluate((video: HTMLVideoElement) => {
    const { width, height } = video.getBoundingClientRect();
    const scale = Math.min(width / video.videoWidth, height / video.videoHeight);
    return { width: Math.round(video.videoWidth * scale), height: Math.round(video.videoHeight * scale) };
  });

const cases = [
  { name: "no size", size: "", media: upright, shape: "tall", width: 370 },
  { name: "0 × 0", size: 'width="0" height="0"', media: upright, shape: "tall", width: 370 },
  { name: "a wrong size", size: 'width="640" height="360"', media: upright, shape: "tall", width: 370 },
  {
    name: "an upright size for a lying picture",
    size: 'width="360" height="640"',
    media: lying,
    shape: "wide",
    width: 400,
  },
];
for (const { name, size, media, shape, width } of cases) {
  const tag = name === "no size" ? [] : "@long";
  test(`a video whose ad declares ${name} is shown in its picture's own shape`, { tag }, async ({
    api,
    page,
    sell,
    stack,
    userId,
  }) => {
    await sell(media, { files: file(size) });
    await openWithNewCode({ api, page, stack, userId });
    await page.getByRole("button", { name: "Watch" }).click();
    await expect(page.locator(".watch")).toHaveAttribute("data-shape", shape);
    await expect.poll(async () => (await pictureBox(page)).width).toBeGreaterThan(width);
  });
}
