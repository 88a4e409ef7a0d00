import { readAmount } from "@intermission/operator-api/amounts";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { expect, test } from "vitest";
import { faultOfAmount } from "../src/operator/amount-fault.ts";
import { faultsOfBody, faultText } from "../src/operator/fault-words.ts";

test("what is wrong with a field is said in the reader's language with its values, unknown faults are left to the server", () => {
  const tooLong = { code: "CHARACTERS_AT_MOST", values: { max: "128" } };
  expect(faultText(tooLong)).toEqual({
    en: "Must have at most 128 characters.",
    ru: "Символов должно быть не больше 128.",
  });
  expect(faultText({ code: "CHARACTERS_AT_MOST", values: {} })).toBeUndefined();
  expect(faultText({ code: "FROM_A_LATER_VERSION", values: {} })).toBeUndefined();
  expect(faultText({ code: "toString", values: {} })).toBeUndefined();
});

test("a form's faults are in both languages, by field", () => {
  const faults = faultsOfBody(campaignRoutes.addCampaign.body, { name: "Spring", advertiser: "", formats: [] });
  expect(faults).toEqual({
    advertiser: { en: "Must not be empty.", ru: "Заполните это поле." },
    formats: { en: "At least 1 must be named.", ru: "Нужно указать не меньше 1." },
  });
  expect(
    faultsOfBody(campaignRoutes.addCampaign.body, { name: "A", advertiser: "B", formats: ["rewarded"] }),
  ).toBeUndefined();
});

test("an amount's fault says how to write it", async () => {
  const read = readAmount("12,5", "budget");
  if (read.outcome !== "refused") throw new Error("it was read");
  expect(await faultOfAmount(read)).toEqual({
    en: "An amount from 0.000001 to 100000000000: write 12.5.",
    ru: "Сумма от 0.000001 до 100000000000: напишите 12.5.",
  });
});
