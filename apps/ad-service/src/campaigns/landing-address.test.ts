import { checkLandingUrl } from "@intermission/operator-api/campaigns";
import { expect, test } from "vitest";
import { landingAddress } from "./campaign-settings.ts";

const macros = {
  click_id: "clk_1",
  code: "a&b=c",
  bot_id: "42",
  campaign_id: "c/d",
  creative_id: "",
  erid: "2VtzqwP8x4a",
};
const stored = (text: string) => {
  const check = checkLandingUrl(text);
  if (check.outcome !== "valid") throw new Error(check.message);
  return check.url;
};

test.each([
  ["https://shop.test/?c={click_id}&k={code}", "https://shop.test/?c=clk_1&k=a%26b%3Dc"],
  ["https://shop.test/{campaign_id}/x", "https://shop.test/c%2Fd/x"],
  ["https://shop.test/?erid={erid}", "https://shop.test/?erid=2VtzqwP8x4a"],
  ["https://shop.test/#{bot_id}", "https://shop.test/#42"],
  ["https://shop.test/?r={creative_id}&u={unknown}", "https://shop.test/?r=&u={unknown}"],
  ["https://shop.test:8443/?{bot_id}{bot_id}", "https://shop.test:8443/?4242"],
  ["https://shop.test/?a=1&amp;c={click_id}", "https://shop.test/?a=1&c=clk_1"],
  ["https://shop.test/plain", "https://shop.test/plain"],
  ["tg://resolve?domain=shop_bot&amp;start={click_id}", "https://t.me/shop_bot?start=clk_1"],
])("%s", (landing, expected) => expect(landingAddress(stored(landing), macros)).toBe(expected));

test("the value of a macro never changes where the address leads", () => {
  const hostile = { ...macros, code: "/../@evil.test\r\nx: y" };
  const url = new URL(landingAddress(stored("https://shop.test/{code}"), hostile));
  expect(url.host).toBe("shop.test");
  expect(url.href).not.toMatch(/[\r\n]/);
});
