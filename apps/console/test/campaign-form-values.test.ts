import { expect, test } from "vitest";
import { changedFields, newCampaignValues, requestOf, valuesAt } from "../src/campaigns/campaign-form-values.ts";

test("a request says nothing about fields that were not typed into", () => {
  const typed = { ...newCampaignValues, dailyBudget: "25", languages: "fi" };
  const fields = changedFields(newCampaignValues, typed);
  expect(fields).toEqual(["dailyBudget", "languages"]);
  const body = { name: "", dailyBudgetMicros: 25e6, endsAt: null, targeting: { countries: ["FI"], languages: ["fi"] } };
  expect(requestOf(fields, body)).toEqual({ dailyBudgetMicros: 25e6, targeting: body.targeting });
  expect(requestOf(["name"], body)).toEqual({ name: "" });
  expect(valuesAt(["languages"], typed)).toEqual({ languages: "fi" });
});
