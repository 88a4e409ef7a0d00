import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";

test("from the offer to the reward the app contacts only the ad service and the publisher's API", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const asked = new Map<string, string[]>();
  page.on("request", (request) => {
    const { origin, pathname, search } = new URL(request.url());
    if (origin === "null") return;
    asked.set(origin, [...(asked.get(origin) ?? []), `${pathname}${search}`]);
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
  expect([...asked.keys()].sort()).toEqual([stack.urls.adService, stack.urls.api].sort());
  const addresses = [...asked.values()].flat();
  // URLs end up in logs, so they must not contain launch data or tokens.
  expect(addresses.filter((address) => /hash=|user=|initData|token/i.test(address))).toEqual([]);
  expect(addresses.length).toBeGreaterThan(5);
});

test("each file of the app is compressed and cacheable for ever", async ({ api, page, stack, userId }) => {
  const files = new Map<string, Record<string, string>>();
  page.on("response", async (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith("/app/assets/")) files.set(pathname, await response.allHeaders());
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).waitFor();
  await expect.poll(() => files.size).toBeGreaterThan(2);
  for (const [name, headers] of files) {
    expect(headers, name).toMatchObject({
      "content-encoding": "br",
      "cache-control": "public, max-age=31536000, immutable",
      vary: expect.stringMatching(/accept-encoding/i),
    });
  }
});
