import { expect, test } from "vitest";
import { newCampaignValues, requestOf } from "../src/campaigns/campaign-form-values.ts";
import { changedFields } from "../src/ui/typed-settings.tsx";

test("a request says nothing about fields that were not typed into", () => {
  const typed = { ...newCampaignValues, dailyBudget: "25", languages: "fi" };
  const fields = changedFields(newCampaignValues, typed);
  expect(fields).toEqual(["dailyBudget", "languages"]);
  const body = { name: "", dailyBudgetMicros: 25e6, endsAt: null, targeting: { countries: ["FI"], languages: ["fi"] } };
  expect(requestOf(fields, body)).toEqual({ dailyBudgetMicros: 25e6, targeting: body.targeting });
  expect(requestOf(["name"], body)).toEqual({ name: "" });
});
