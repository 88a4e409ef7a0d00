import { readFile } from "node:fs/promises";
import { analyze } from "./axe.ts";
import { expect, test } from "./console.ts";
import { newCode } from "./stack.ts";

test("a report is split by bot and compared in three steps, its address is the report, and its CSV file has its rows", async ({
  desk,
  stack,
  api,
  userId,
}) => {
  const { directLink } = await newCode(api, userId);
  const agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";
  const headers = { "user-agent": agent, "accept-language": "en" };
  expect((await fetch(directLink, { redirect: "manual", headers })).status).toBe(302);
  const clicks = async () =>
    JSON.parse(await stack.ads(["stats", "--by", "bot", "--json"])).rows.reduce(
      (sum: number, row: { clicks: number }) => sum + row.clicks,
      0,
    );
  await expect.poll(clicks, { timeout: 20_000 }).toBe(1);

  await desk.getByRole("link", { name: "Reports", exact: true }).filter({ visible: true }).click();
  await desk.getByLabel("By", { exact: true }).selectOption("Bot");
  await desk.getByLabel("Compare with").selectOption("The range before");
  const row = desk.getByRole("row").filter({ hasText: "Coin Garden" });
  await expect(row.getByRole("cell").nth(7)).toHaveText("1");
  await expect(desk.getByText("Compared with")).toBeVisible();
  expect((await analyze(desk)).violations).toEqual([]);
  await desk.reload();
  await expect(row).toBeVisible();
  const file = desk.waitForEvent("download");
  await desk.getByRole("link", { name: "CSV" }).click();
  const lines = (await readFile(await (await file).path(), "utf8")).trim().split("\r\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("Coin Garden");
});
