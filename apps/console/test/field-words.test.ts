import { expect, test } from "vitest";
import { partyWords } from "../src/advertisers/party-words.ts";
import { changedFields } from "../src/audit/audit-entry.ts";
import { fieldText } from "../src/audit/field-words.ts";
import { valueText } from "../src/audit/value-words.ts";
import { botFormWords } from "../src/bots/form-words.ts";
import { buyerFormWords } from "../src/buyers/words.ts";
import { taskWords } from "../src/tasks/words.ts";
import { roleWords } from "../src/words/role-words.ts";

const iso = (at: Date) => at.toISOString();
const campaign = { language: "ru", objectKind: "campaign", dateTime: iso } as const;

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
    valueText(campaign, field, before),
    valueText(campaign, field, after),
  ]);
  expect(shown).toEqual([
    ["Бюджет на день", "", "30.5"],
    ["Окончание", "", "2026-03-01T00:00:00.000Z"],
    ["future_field", "1", '{"a":true}'],
    ["Название", "paused", "active"],
    ["Состояние", "активна", "на паузе"],
  ]);
});

test("fields and values are said as the other screens say them, by the kind of the object", () => {
  const inEnglish = { language: "en", objectKind: "person", dateTime: iso } as const;
  expect(valueText(inEnglish, "role", "ad-ops")).toBe(roleWords.en["ad-ops"]);
  expect(valueText({ ...inEnglish, language: "ru" }, "role", "ad-ops")).toBe(roleWords.ru["ad-ops"]);
  expect(fieldText("en", "daily_cap")).toBe(botFormWords.en.labels.dailyCap);
  expect(valueText(campaign, "suspicious_views", "hold")).toBe(botFormWords.ru.options?.suspiciousViews?.hold);
  expect(valueText({ ...campaign, objectKind: "endpoint" }, "state", "active")).toBe("доставляются");
  expect(valueText({ ...campaign, objectKind: "advertiser" }, "state", "active")).toBe("работает");
  expect(valueText(campaign, "formats", ["rewarded", "direct_link"])).toBe("видео с наградой, прямая ссылка");
  expect(valueText(campaign, "blocked_categories", [])).toBe("");
  expect(valueText(inEnglish, "is_disabled", true)).toBe("yes");
  expect(valueText({ ...inEnglish, objectKind: "party" }, "contract_type", "mediation")).toBe(
    partyWords.en.contractTypes.mediation,
  );
  expect(valueText({ ...inEnglish, objectKind: "buyer" }, "sends", ["address"])).toBe(buyerFormWords.en.sends.address);
  expect(valueText({ ...inEnglish, objectKind: "task-bot" }, "updates_by", "webhook")).toBe(taskWords.en.byWebhook);
});
