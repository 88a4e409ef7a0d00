import type { Bot } from "@intermission/operator-api/bots";
import { Conflicts } from "../ui/typed-settings.tsx";
import { useWords } from "../words/word-table.ts";
import { type BotField, valuesOf } from "./bot-form-values.ts";
import { settingsWords } from "./settings-words.ts";

/** What the fields are called. */
const labels = {
  name: "name",
  username: "username",
  category: "category",
  timeZone: "timeZone",
  dailyCap: "dailyCap",
  cooldownSeconds: "cooldown",
  codeLifetimeSeconds: "codeLifetime",
  payPerCode: "payPerCode",
  suspiciousViews: "suspiciousViews",
  suspiciousClicks: "suspiciousClicks",
  webhookUrl: "webhookUrl",
  deliveryMode: "deliveryMode",
  publisherApiUrl: "publisherApiUrl",
  includeRevenue: "includeRevenue",
  rewardPerView: "rewardPerView",
  rewardPerClick: "rewardPerClick",
  rewardUnit: "rewardUnit",
  skipOffer: "skipOffer",
  closeWhenCredited: "closeWhenCredited",
  blockedCategories: "blockedCategories",
  blockedAdvertisers: "blockedAdvertisers",
} as const satisfies Record<BotField, keyof (typeof settingsWords)["en"]>;

interface SettingsConflictsProps {
  fields: readonly BotField[];
  stored: Bot;
  onTake: () => void;
  onKeep: () => void;
}

/** The settings that the reader and another person have changed, as the form calls them. */
export function SettingsConflicts({ fields, stored, onTake, onKeep }: SettingsConflictsProps) {
  const words = useWords(settingsWords);
  const values = valuesOf(stored);
  const chosen = {
    payPerCode: words.payPerCodeIs[stored.payPerCode],
    suspiciousViews: words.suspiciousViewsAre[stored.suspiciousViews],
    suspiciousClicks: words.suspiciousClicksAre[stored.suspiciousClicks],
    deliveryMode: words.deliveryModeIs[stored.deliveryMode],
  };
  const texts = { ...values, ...chosen };
  const textOf = (value: string | boolean) =>
    typeof value === "boolean" ? words.isChecked[value ? "yes" : "no"] : value.replaceAll("\n", "; ");
  const shown = fields.map((field) => ({ label: words[labels[field]], value: textOf(texts[field]) }));
  return <Conflicts fields={shown} onTake={onTake} onKeep={onKeep} />;
}
