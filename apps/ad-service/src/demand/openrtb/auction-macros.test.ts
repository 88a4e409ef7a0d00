import { expect, test } from "vitest";
import { fillAuctionMacros } from "./auction-macros.ts";

const macros = {
  auctionId: "r 1",
  bidId: "b&1",
  impressionId: "1",
  seat: undefined,
  creativeId: "c",
  price: "1.25",
  currency: "USD",
  loss: 0,
};

const macro = (name: string) => `\${AUCTION_${name}}`;

const filled: [template: string, text: string][] = [
  [`https://b.example/?p=${macro("PRICE")}&c=${macro("CURRENCY")}`, "https://b.example/?p=1.25&c=USD"],
  [["ID", "BID_ID", "IMP_ID", "AD_ID"].map(macro).join(" "), "r%201 b%261 1 c"],
  [`[${macro("SEAT_ID")}${macro("MIN_TO_WIN")}]`, "[]"],
  ["%24%7BAUCTION_PRICE%7D %24%7bauction_loss%7d", "1.25 0"],
  [macro("PRICE:B64"), "MS4yNQ%3D%3D"],
  [`${macro("MBR")} ${macro("MULTIPLIER")}`, "1 1"],
  [`${macro("OTHER")} \${PRICE} $AUCTION_PRICE`, `${macro("OTHER")} \${PRICE} $AUCTION_PRICE`],
];
test.each(filled)("%s becomes %s", (template, text) => {
  expect(fillAuctionMacros(template, macros)).toBe(text);
});
