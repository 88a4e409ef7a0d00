import { hash } from "node:crypto";
import { newClickId } from "@intermission/ad-core/code";
import type { CallToAction } from "@intermission/ad-core/player-api";
import { telegramLink } from "@intermission/ad-core/telegram-link";
import { landingAddress } from "../campaigns/campaign-settings.ts";
import { fillMacros } from "../vast/fill-macros.ts";
import type { AdView } from "./ad-view.ts";

/**
 * The id of the view's CTA click, also before it is clicked: a link of Telegram is opened by the mini-app, with the id in it, and
 * counted by another call. The view's id cannot be guessed, and each viewer who clicks has it.
 */
export function clickIdOf({ botId, viewId, openedAt }: AdView): string {
  return newClickId(openedAt.getTime(), hash("sha256", `click id ${botId} ${viewId}`, "buffer"));
}

export interface LandingFacts {
  now: Date;
  /** Of the creative. */
  erid: string | null;
}

/** A landing page with its macros filled in. */
export function landingPage(landingUrl: string, view: AdView, { now, erid }: LandingFacts): string {
  const { botId, viewId, code, campaignId, creativeId } = view;
  const clickId = clickIdOf(view);
  const filled = view.isVast ? fillMacros(landingUrl, { now, chance: Math.random(), viewId, clickId }) : landingUrl;
  return landingAddress(filled, {
    click_id: clickId,
    code,
    bot_id: botId,
    campaign_id: campaignId,
    creative_id: creativeId,
    erid: erid ?? "",
  });
}

/** What a call to action opens, judged by the address after its macros. */
export function opensOf(landingUrl: string, view: AdView, facts: LandingFacts): NonNullable<CallToAction["opens"]> {
  const link = telegramLink(landingPage(landingUrl, view, facts));
  return link === undefined ? { in: "browser" } : { in: "telegram", link };
}
