import { expect, test } from "vitest";
import { changedFields } from "../src/audit/audit-entry.ts";
import { fieldText, valueText } from "../src/audit/field-words.ts";

const iso = (at: Date) => at.toISOString();

test("a change of the audit trail is said in words: fields, amounts, moments and words of the store", () => {
  const before = {
    name: "paused",
    status: "active",
    daily_budget_micros: null,
    ends_at: null,
    future_field: 1,
    weight: 1,
  };
  const after = {
    name: "active",
    status: "paused",
    daily_budget_micros: 30_500_000,
    ends_at: "2026-03-01T00:00:00+00:00",
    future_field: { a: true },
    weight: 1,
  };
  const shown = changedFields({ before, after }).map(({ field, before, after }) => [
    fieldText("ru", field),
    valueText("ru", field, before, iso),
    valueText("ru", field, after, iso),
  ]);
  expect(shown).toEqual([
    ["Бюджет на день", "", "30.5"],
    ["Конец", "", "2026-03-01T00:00:00.000Z"],
    ["future_field", "1", '{"a":true}'],
    ["Название", "paused", "active"],
    ["Состояние", "работает", "приостановлена"],
  ]);
});
