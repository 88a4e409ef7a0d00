import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { root } from "../scripts/processes.ts";
import { analyze } from "./axe.ts";
import { expect, test } from "./console.ts";
import { newAddress } from "./stack.ts";

// One worker, so that one stack is started.
test.describe.configure({ mode: "default" });

const BOT = "9000000044";
const USER = "7744";
const SHOP = "Lamp Shop";

test("a key for postbacks is made, a conversion reversed and a user erased, each where its object is shown", {
  tag: "@long",
}, async ({ reader, stack: { ads, urls } }) => {
  const { page } = reader;
  const bot = ["--bot-id", BOT, "--name", "Lamp Club", "--cooldown", "0", "--suspicious-clicks", "pay"];
  const { token } = JSON.parse(await ads(["bots", "add", ...bot, "--json"]));
  // Campaigns of other tests may reach this bot, too: this one is shown before them.
  const campaign = [
    "--advertiser",
    SHOP,
    "--name",
    "Lamps",
    "--format",
    "direct_link",
    "--bots",
    BOT,
    "--priority",
    "sponsorship",
  ];
  const landing = ["--landing-url", "https://lamps.example/?click={click_id}", "--billing", "credit"];
  await ads(["campaigns", "add", ...campaign, ...landing, "--click-price", "0.08"]);

  const dialog = page.getByRole("dialog");
  await reader.open();
  await reader.click(reader.section("Advertisers"));
  await reader.click(page.getByRole("link", { name: SHOP }));
  await reader.click(page.getByRole("button", { name: "Postback key" }));
  expect(reader.steps).toBeLessThanOrEqual(3);
  expect((await analyze(page)).violations).toEqual([]);
  await dialog.getByRole("button", { name: "Make a key" }).click();
  const key = (await dialog.locator("code").first().textContent()) ?? "";
  await expect(dialog.locator("code").last()).toHaveText(/\/postback\/v1\/conversions\?click_id={click_id}&key=pb_/);
  await page.keyboard.press("Escape");
  expect(await page.content()).not.toContain(key);

  const answer = await fetch(`${urls.adService}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: BOT, user_tg_id: USER }),
  });
  const { direct_link: link } = (await answer.json()) as { direct_link: string };
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en", "x-forwarded-for": newAddress() };
  const visit = await fetch(link, { redirect: "manual", headers });
  const clickId = new URL(visit.headers.get("location") ?? "").searchParams.get("click") ?? "";
  const report = new URLSearchParams({ click_id: clickId, key, event: "purchase", value: "4.99", currency: "USD" });
  expect((await fetch(`${urls.adService}/postback/v1/conversions?${report}`)).status).toBe(200);

  await reader.open();
  await reader.click(reader.section("Conversions"));
  await reader.click(page.getByRole("button", { name: `Reverse purchase of ${clickId}` }));
  await expect(dialog).toContainText("$4.99");
  await reader.click(dialog.getByRole("button", { name: "Reverse", exact: true }));
  await expect(page.getByText("The conversion is reversed.")).toBeVisible();
  expect(reader.steps).toBeLessThanOrEqual(3);
  await expect(page.getByRole("button", { name: /^Reverse/ })).toHaveCount(0);

  await reader.open();
  await reader.click(reader.section("Users and codes"));
  await page.getByRole("searchbox").fill(USER);
  await page.getByRole("button", { name: "Erase the user" }).click();
  await expect(dialog.getByText(/^\d+ records of this user/)).toBeVisible();
  expect((await analyze(page)).violations).toEqual([]);
  await dialog.getByRole("button", { name: "Erase the user" }).click();
  await expect(page.getByText("The user is erased.")).toBeVisible();
  await expect(page.getByText("Nothing is stored under this id.")).toBeVisible();
});

test.describe("by its address", () => {
  test.use({ refusal: 400 });

  test("a video is added, and an address without one is refused with the reason", { tag: "@long" }, async ({
    desk,
  }) => {
    const video = readFileSync(join(root, "e2e/fixtures/clip-2s.mp4"));
    const server = createServer((request, response) => {
      if (request.url === "/clip.mp4") response.writeHead(200, { "content-type": "video/mp4" }).end(video);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await desk.getByRole("link", { name: "Creatives", exact: true }).click();
    await desk.getByRole("button", { name: "Video by address" }).click();
    const dialog = desk.getByRole("dialog");
    const field = dialog.getByLabel("Address");
    await expect(field).toBeFocused();
    await field.fill(`${address}/none.mp4`);
    await dialog.getByRole("button", { name: "Add it" }).click();
    await expect(dialog.getByText(/404/)).toBeVisible();
    await field.fill(`${address}/clip.mp4`);
    await dialog.getByRole("button", { name: "Add it" }).click();
    await desk.waitForURL(/creatives\/cre_/);
    await expect(dialog).toHaveCount(0);
    server.closeAllConnections();
    server.close();
  });
});
