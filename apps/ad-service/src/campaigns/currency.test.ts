import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { addCampaign } from "./change-campaign.ts";
import { decideCurrency, requireCurrency } from "./currency.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

test.each([
  [{ stored: undefined, hasMoney: false }, undefined, { outcome: "stored", currency: "USD" }],
  [{ stored: undefined, hasMoney: true }, "EUR", { outcome: "stored", currency: "EUR" }],
  [{ stored: "EUR", hasMoney: true }, undefined, { outcome: "kept", currency: "EUR" }],
  [{ stored: "EUR", hasMoney: true }, "EUR", { outcome: "kept", currency: "EUR" }],
  [{ stored: "USD", hasMoney: false }, "EUR", { outcome: "changed", currency: "EUR", from: "USD" }],
  [{ stored: "USD", hasMoney: true }, "JPY", { outcome: "refused", stored: "USD" }],
])("of %j and CURRENCY=%s the currency is decided: %j", (facts, configured, decision) => {
  expect(decideCurrency(facts, configured)).toEqual(decision);
});

test("another CURRENCY over a store with money is refused, until the operator has named the currency of its amounts", async () => {
  const { database } = store;
  const lines: string[] = [];
  const log = { warn: (_facts: unknown, message?: string) => void lines.push(message ?? "") };
  expect(await requireCurrency(database, undefined, log)).toBe("USD");
  expect(await requireCurrency(database, "EUR", log)).toBe("EUR");
  expect(lines).toEqual([expect.stringContaining("is EUR, which was USD")]);
  const link = { formats: ["direct_link" as const], landingUrl: "https://shop.example/", clickPriceMicros: 100_000 };
  const now = new Date();
  await addCampaign(database, { ...link, name: "Shop", advertiser: "Shop", campaignId: "cmp_1", now });
  expect(await requireCurrency(database, undefined, log)).toBe("EUR");
  await expect(requireCurrency(database, "JPY", log)).rejects.toThrow(
    /CURRENCY is JPY, and the amounts in the store are in EUR, .* set CURRENCY=EUR\..*currency set JPY/,
  );

  const operatorToken = "o".repeat(32);
  const fixture = await openAppFixture(database, { operatorToken, currency: "EUR" });
  onTestFinished(() => fixture.close());
  const set = (query: string) =>
    fixture.app.inject({
      method: "PUT",
      url: `/operator/v1/currency${query}`,
      payload: { currency: "JPY" },
      headers: { authorization: `Bearer ${operatorToken}` },
    });
  const unconfirmed = await set("");
  expect(unconfirmed.statusCode).toBe(409);
  expect(unconfirmed.json().error.message).toContain("no number is converted");
  expect(await requireCurrency(database, undefined, log)).toBe("EUR");
  expect((await set("?confirmed=true")).json()).toEqual({ currency: "JPY", running: "EUR" });
  expect(await requireCurrency(database, "JPY", log)).toBe("JPY");
});
