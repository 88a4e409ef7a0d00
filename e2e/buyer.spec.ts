import { openBuyer } from "../examples/buyer.ts";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

test("a newcomer adds the stand-in for a buyer, sees its ad in the demo, and reads in the console what became of the bid", async ({
  api,
  page,
  stack,
  browser,
  userId,
}) => {
  const buyer = await openBuyer();
  const added = await stack.ads(["buyers", "add", "Stand-in", "--address", buyer.urlOf("bid"), "--json"]);
  const { buyerId } = JSON.parse(added) as { buyerId: string };
  try {
    const console = await browser.newContext();
    const screen = await console.newPage();
    await screen.goto(await stack.signInLink());
    await screen.getByRole("navigation").getByRole("link", { name: "Buyers", exact: true }).click();
    await screen.getByRole("table", { name: "Buyers" }).getByRole("link", { name: "Stand-in" }).click();
    await screen.getByRole("button", { name: "Send a test" }).click();
    await expect(screen.getByText("the ad can be shown").first()).toBeVisible();
    await screen.getByRole("button", { name: "Turn on" }).click();
    await expect(screen.getByRole("button", { name: "Turn off" })).toBeVisible();
    expect(buyer.callsOf("/win"), "a test is no win").toEqual([]);

    // The page's policy knows a new network two seconds later at most.
    const policy = async () =>
      (await fetch(`${stack.urls.adService}/app/${stack.secrets.botId}`)).headers.get("content-security-policy");
    await expect.poll(policy).toMatch(/media-src [^;]*http:(;| |$)/);
    await openWithNewCode({ api, page, stack, userId });
    await expect(page.locator("video")).toHaveJSProperty("src", `${buyer.address}/ad.mp4`);
    await expect.poll(() => buyer.callsOf("/win")).toHaveLength(1);
    expect(buyer.callsOf("/bill"), "an offer is not an impression").toEqual([]);
    await watchToTheEnd(page);
    await closeAndGet(page);
    await expectPaidOnce(api, userId, "rewarded");
    for (const path of ["/win", "/bill", "/impression", "/complete"])
      await expect.poll(() => buyer.callsOf(path), path).toHaveLength(1);

    await screen.reload();
    await expect(screen.getByText("the bid won: its ad was offered").first()).toBeVisible();
    await expect(screen.getByText("$0.00125").first()).toBeVisible();
    await console.close();
  } finally {
    await stack.ads(["buyers", "set", buyerId, "--active", "no"]);
    buyer.close();
  }
});
