import { botRoutes, botSettings } from "@intermission/operator-api/bots";
import { defineForm, type NameOf, type TitleOf } from "../forms/form-definition.ts";

/** The settings of a bot; their words are `botFormWords`. */
export const botForm = defineForm(botSettings, {
  sections: [
    { fields: ["name", "username", "category", "timeZone"] },
    { title: "limits", fields: ["dailyCap", "cooldownSeconds", "interstitialSeconds", "codeLifetimeSeconds"] },
    { title: "earning", fields: ["payPerCode", "suspiciousViews", "suspiciousClicks"] },
    {
      title: "webhooks",
      fields: ["webhookUrl", "deliveryMode", "publisherApiUrl", "includeRevenue", "sendsInterstitials", "hasTasks"],
    },
    {
      title: "users",
      fields: ["rewardPerView", "rewardPerClick", "rewardUnit", "privacyUrl", "skipOffer", "closeWhenCredited"],
    },
    { title: "inApp", fields: ["appOrigins", "sendsClientNotes"] },
    { title: "blocked", fields: ["blockedCategories", "blockedAdvertisers"] },
  ],
  elsewhere: { testers: "a list of their own on the bot's screen" },
});

export type BotField = NameOf<typeof botForm>;
export type BotSection = TitleOf<typeof botForm>;

/** Where the other settings of a new bot are. */
const onItsScreen = "the form on the bot's screen";

/** What a new bot needs; all else is set on its screen. */
export const newBotForm = defineForm(botRoutes.addBot.body, {
  sections: [{ fields: ["botId", "name", "username", "webhookUrl"] }],
  elsewhere: {
    testers: onItsScreen,
    category: onItsScreen,
    timeZone: onItsScreen,
    dailyCap: onItsScreen,
    cooldownSeconds: onItsScreen,
    codeLifetimeSeconds: onItsScreen,
    payPerCode: onItsScreen,
    suspiciousViews: onItsScreen,
    suspiciousClicks: onItsScreen,
    deliveryMode: onItsScreen,
    publisherApiUrl: onItsScreen,
    includeRevenue: onItsScreen,
    appOrigins: onItsScreen,
    hasTasks: onItsScreen,
    sendsInterstitials: onItsScreen,
    sendsClientNotes: onItsScreen,
    interstitialSeconds: onItsScreen,
    rewardPerView: onItsScreen,
    rewardPerClick: onItsScreen,
    rewardUnit: onItsScreen,
    privacyUrl: onItsScreen,
    skipOffer: onItsScreen,
    closeWhenCredited: onItsScreen,
    blockedCategories: onItsScreen,
    blockedAdvertisers: onItsScreen,
  },
});

export type NewBotField = NameOf<typeof newBotForm>;
