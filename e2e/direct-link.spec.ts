import { arriveAtLanding } from "./arrive-at-landing.ts";
import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectNothingPaid, expectPaidOnce, newCode, test } from "./stack.ts";

const phone =
  "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";
let lastAddress = 0;

/** A visit without a browser: sets method, user agent and IP address, and does not follow redirects. */
async function visit(
  link: string,
  options: { method?: string; agent?: string; headers?: Record<string, string> } = {},
) {
  lastAddress += 1;
  const response = await fetch(link, {
    method: options.method ?? "GET",
    redirect: "manual",
    headers: {
      "user-agent": options.agent ?? phone,
      "accept-language": "en",
      "x-forwarded-for": `198.18.${lastAddress & 255}.${1 + (lastAddress >> 8)}`,
      ...options.headers,
    },
  });
  await response.arrayBuffer();
  return response;
}

test("the link pays once, however often it is followed", async ({ api, userId }) => {
  const { directLink } = await newCode(api, userId);
  expect((await visit(directLink)).status).toBe(302);
  await Promise.all(Array.from({ length: 8 }, () => visit(directLink)));
  await expectPaidOnce(api, userId, "direct_link");
});

test("a browser that follows the link arrives at the advertiser's page and is paid", async ({
  api,
  userId,
  page,
  stack,
}) => {
  const { directLink } = await newCode(api, userId);
  await page.goto(directLink);
  await arriveAtLanding(page, `${stack.urls.demoBot}/landing`);
  await expectPaidOnce(api, userId, "direct_link");
});

test.describe("a person misclassified as a crawler", () => {
  test.use({ userAgent: phone.replace("Pixel 9", "Spider X1") });

  test("taps the page's button and is paid", async ({ api, userId, page, stack }) => {
    const { directLink } = await newCode(api, userId);
    await page.goto(directLink);
    await expectNothingPaid(api, userId);
    await page.getByRole("button", { name: "Open the page" }).click();
    await arriveAtLanding(page, `${stack.urls.demoBot}/landing`);
    await expectPaidOnce(api, userId, "direct_link");
  });

  for (const { what, refusesCookies, taps } of [
    { what: "whose address is another one at each request", refusesCookies: false, taps: ["One tap to go"] },
    { what: "whose browser also refuses cookies", refusesCookies: true, taps: ["One tap to go", "One more tap"] },
  ]) {
    test(`and ${what} is paid after ${taps.length} of two taps`, async ({ api, userId, context, page, stack }) => {
      const { directLink } = await newCode(api, userId);
      await context.route(`${new URL(directLink).origin}/**`, async (route) => {
        lastAddress += 1;
        const address = lastAddress % 2 === 0 ? `2001:db8:${lastAddress.toString(16)}::1` : `198.18.9.${lastAddress}`;
        await route.continue({ headers: { ...(await route.request().allHeaders()), "x-forwarded-for": address } });
      });
      await page.goto(directLink);
      for (const heading of taps) {
        await expect(page.getByRole("heading", { name: heading })).toBeVisible();
        if (refusesCookies) await context.clearCookies();
        await page.getByRole("button", { name: "Open the page" }).click();
      }
      await arriveAtLanding(page, `${stack.urls.demoBot}/landing`);
      await expectPaidOnce(api, userId, "direct_link");
    });
  }
});

test("a link with what people and messengers add to it pays once", async ({ api, userId, page, stack }) => {
  const { directLink } = await newCode(api, userId);
  await page.goto(`${directLink}%E2%80%8B).?fbclid=IwAR0x`);
  await arriveAtLanding(page, `${stack.urls.demoBot}/landing`);
  for (const added of ["/", "/?fbclid=IwAR0x", ".", "%20", "%3Ffbclid=IwAR0x", "&amp;utm_source=x", "%zz"])
    expect((await visit(directLink + added)).status, added).toBe(302);
  await expectPaidOnce(api, userId, "direct_link");
});

test("previews, HEAD, prefetches and empty user agents pay nothing and do not use up the code", async ({
  api,
  userId,
}) => {
  const { directLink } = await newCode(api, userId);
  const machines: Parameters<typeof visit>[1][] = [
    { agent: "TelegramBot (like TwitterBot)" },
    { agent: "WhatsApp/2.23.20.0" },
    { agent: "facebookexternalhit/1.1" },
    { agent: "Googlebot/2.1 (+http://www.google.com/bot.html)" },
    { agent: "curl/8.5.0" },
    { agent: "" },
    { method: "HEAD" },
    { headers: { "sec-purpose": "prefetch;prerender" } },
    { headers: { purpose: "prefetch" } },
    { headers: { "x-moz": "prefetch" } },
  ];
  for (const machine of machines) {
    const response = await visit(directLink, machine);
    expect(response.status, JSON.stringify(machine)).not.toBe(302);
    expect(response.headers.get("cache-control")).toContain("no-store");
  }
  await expectNothingPaid(api, userId);
  expect((await visit(directLink)).status).toBe(302);
  await expectPaidOnce(api, userId, "direct_link");
});

test("an unknown link shows an understandable error page", async ({ page, stack }) => {
  const response = await page.goto(`${stack.urls.adService}/ABCDEFGHJKMNPQRSTU`);
  expect(response?.status()).toBe(404);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

test("after its link, the ad of the same message is paid as another code", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { code, miniappUrl, directLink } = await newCode(api, userId);
  await page.goto(directLink);
  await arriveAtLanding(page, `${stack.urls.demoBot}/landing`);
  await expect.poll(async () => (await api.listRewards(userId)).map(({ event }) => event)).toEqual(["direct_link"]);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  const view = (await api.listRewards(userId)).find(({ event }) => event === "rewarded");
  expect(view).toMatchObject({ amount: 10 });
  expect(view?.code).not.toBe(code);
});
