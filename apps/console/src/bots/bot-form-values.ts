import { type Bot, type BotSettings, botRoutes, type RewardUnit } from "@intermission/operator-api/bots";
import type { z } from "zod";
import type { LocalText } from "../operator/local-text.ts";
import { faultsOf } from "../ui/typed-faults.ts";
import { settingsWords } from "./settings-words.ts";

type BotChanges = z.input<typeof botRoutes.updateBot.body>;

/** The settings that the form shows: testers have a list of their own. */
export type BotField = Exclude<keyof BotSettings, "testers">;
/** What the form's fields hold: text as it is typed, and whether a box is checked. */
export type BotFormValues = { [Field in BotField]: BotSettings[Field] extends boolean ? boolean : string };

export function valuesOf(bot: Bot): BotFormValues {
  const { skipOffer, closeWhenCredited, includeRevenue, payPerCode, deliveryMode, timeZone, name } = bot;
  return {
    name,
    username: bot.username ?? "",
    category: bot.category ?? "",
    timeZone,
    dailyCap: String(bot.dailyCap),
    cooldownSeconds: String(bot.cooldownSeconds),
    codeLifetimeSeconds: String(bot.codeLifetimeSeconds),
    payPerCode,
    suspiciousViews: bot.suspiciousViews,
    suspiciousClicks: bot.suspiciousClicks,
    webhookUrl: bot.webhookUrl ?? "",
    deliveryMode,
    publisherApiUrl: bot.publisherApiUrl ?? "",
    includeRevenue,
    rewardPerView: String(bot.rewardPerView ?? ""),
    rewardPerClick: String(bot.rewardPerClick ?? ""),
    rewardUnit: linesOfUnit(bot.rewardUnit ?? {}),
    skipOffer,
    closeWhenCredited,
    blockedCategories: bot.blockedCategories.join(", "),
    blockedAdvertisers: bot.blockedAdvertisers.join("\n"),
  };
}

export type BotFaults = Readonly<Partial<Record<string, LocalText>>>;
export type BotFormReading = { outcome: "changes"; body: BotChanges } | { outcome: "refused"; faults: BotFaults };

/** Reads some of the fields as a change of a bot, which says nothing about the others. */
export async function readBotForm(values: BotFormValues, fields: readonly BotField[]): Promise<BotFormReading> {
  const unit = unitOf(values.rewardUnit);
  if (fields.includes("rewardUnit") && unit.outcome === "refused")
    return { outcome: "refused", faults: { rewardUnit: unit.fault } };
  const settings = {
    ...values,
    username: values.username.trim().replace(/^@/, "") || null,
    category: values.category.trim() || null,
    timeZone: values.timeZone.trim(),
    dailyCap: numberOf(values.dailyCap),
    cooldownSeconds: numberOf(values.cooldownSeconds),
    codeLifetimeSeconds: numberOf(values.codeLifetimeSeconds),
    webhookUrl: values.webhookUrl.trim() || null,
    publisherApiUrl: values.publisherApiUrl.trim() || null,
    rewardPerView: values.rewardPerView.trim() === "" ? null : numberOf(values.rewardPerView),
    rewardPerClick: values.rewardPerClick.trim() === "" ? null : numberOf(values.rewardPerClick),
    rewardUnit: unit.outcome === "unit" ? unit.unit : null,
    blockedCategories: values.blockedCategories.split(/[\s,]+/).filter((word) => word !== ""),
    blockedAdvertisers: linesIn(values.blockedAdvertisers),
  };
  const body = Object.fromEntries(fields.map((field) => [field, settings[field]]));
  const faults = await faultsOfChanges(body);
  // The schema, which has found no fault, knows the type of each.
  return faults === undefined ? { outcome: "changes", body: body as BotChanges } : { outcome: "refused", faults };
}

/** What is wrong with a change, by setting; undefined: nothing. */
export async function faultsOfChanges(body: object): Promise<BotFaults | undefined> {
  const faults = await faultsOf(botRoutes.updateBot.body, body);
  return faults && bySetting(faults);
}

/** Faults within a list or a table belong to its field; of several, the first one is said. */
export function bySetting(faults: Readonly<Record<string, LocalText>>): BotFaults {
  const entries = Object.entries(faults).map(([path, text]) => [path.split(".")[0] ?? path, text] as const);
  return Object.fromEntries(entries.reverse());
}

/** NaN, which no schema accepts, for what is no number. */
function numberOf(text: string): number {
  return /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
}

function linesIn(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "");
}

function linesOfUnit(unit: RewardUnit): string {
  const lines = Object.entries(unit).map(([language, words]) => {
    const forms = Object.entries(words).map(([category, word]) => `${category}=${word}`);
    return `${language}: ${forms.join(", ")}`;
  });
  return lines.join("\n");
}

type UnitReading = { outcome: "unit"; unit: RewardUnit | null } | { outcome: "refused"; fault: LocalText };

function unitOf(text: string): UnitReading {
  const lines = linesIn(text);
  if (lines.length === 0) return { outcome: "unit", unit: null };
  const unit: [string, Record<string, string>][] = [];
  for (const line of lines) {
    const [, language = "", list = ""] = /^([A-Za-z-]{2,35})\s*:(.+)$/.exec(line) ?? [];
    const forms = list.split(",").map((form) => /^\s*([a-z]+)\s*=\s*(\S.*?)\s*$/.exec(form) ?? []);
    if (forms.some(([whole]) => whole === undefined)) {
      const shown = line.slice(0, 60);
      return {
        outcome: "refused",
        fault: { en: settingsWords.en.unitLine(shown), ru: settingsWords.ru.unitLine(shown) },
      };
    }
    unit.push([language, Object.fromEntries(forms.map(([, category = "", word = ""]) => [category, word]))]);
  }
  return { outcome: "unit", unit: Object.fromEntries(unit) };
}
