import { amountOf } from "@intermission/operator-api/amounts";
import type { PictureOfBot } from "@intermission/operator-api/bots";
import { scriptStatesInEnglish } from "@intermission/operator-api/words-in-english";
import { withExamples } from "@intermission/server/command-line";
import { existingFile, telegramIdOption } from "@intermission/server/command-options";
import { type Columns, recordOf, tableOf } from "@intermission/server/command-tables";
import { callRoute, list, subject, type Verb, verb, type WireAnswer } from "@intermission/server/route-commands";
import { uploadPicture } from "../creatives/upload.ts";
import { rewardUnitOption } from "./bot-settings.ts";
import { tokenColumns } from "./token-commands.ts";

const settings = {
  name: "shown to its users",
  username: "its @username, without the @",
  webhookUrl: "where its events are sent; without it they are held",
  publisherApiUrl: "where the mini-app reads what was credited",
  deliveryMode: "at-most-once for a receiver that ignores event_id",
  codeLifetimeSeconds: "how long a code is valid",
  cooldownSeconds: "least time between two rewards of a user",
  dailyCap: "most rewards of a user in a UTC day",
  testers: { flag: "tester", value: "id", text: "Telegram id of a tester" },
  category: { text: "the bot's topic, such as games", value: "word" },
  timeZone: { text: "such as Europe/Berlin; campaigns limited to hours use it", value: "name" },
  blockedCategories: { flag: "block-category", value: "word", text: "category of unwanted campaigns" },
  blockedAdvertisers: { flag: "block-advertiser", value: "name", text: "advertiser of unwanted campaigns" },
  suspiciousViews: { text: "what happens to a view that earned but looks suspicious", value: "what" },
  suspiciousClicks: { text: "what happens to a click that counts but looks suspicious", value: "what" },
  payPerCode: {
    text: "once: a code earns its view or its click, whichever comes first; each: one of both, as the publisher pays",
    value: "what",
  },
  rewardPerView: { text: "units that you pay for a view, shown to users", value: "number" },
  rewardPerClick: { text: "the same for a click on a direct link", value: "number" },
  rewardUnit: {
    text: "its name, such as en:one=coin,other=coins; repeatable, one language each; replaces all",
    value: "forms",
    parse: rewardUnitOption,
  },
  privacyUrl: { text: "your privacy policy, which the mini-app's settings page links to", value: "address" },
  skipOffer: "start the ad without the mini-app's offer",
  closeWhenCredited: "close the mini-app 3 s after the reward is credited",
  includeRevenue: "say in webhooks and in the list of events what each is worth to the publisher",
  sendsInterstitials: "send the webhook interstitial for each that is charged",
  sendsClientNotes: "say in webhooks and in the list of events what the page passed to show()",
  interstitialSeconds: { text: "between two interstitials of a user", value: "seconds" },
  hasTasks: "the bot asks for tasks and gets their webhooks; read docs/tasks.md before",
  appOrigins: {
    flag: "app-origin",
    value: "origin",
    text: "origin of the publisher's own mini-app, which may show ads in a frame",
  },
} as const;

const columns: Columns<WireAnswer<"listBots">["bots"][number]> = {
  "BOT ID": "botId",
  NAME: "name",
  STATE: ({ isSuspended }) => (isSuspended ? "suspended" : "active"),
  WEBHOOK: "webhookUrl",
  COOLDOWN: ({ cooldownSeconds }) => `${cooldownSeconds} s`,
  "DAILY CAP": "dailyCap",
};

export const botCommands = subject("bots", "publishers' bots and their settings", {
  add: verb("addBot", {
    description: "add a bot; its API token is shown only once",
    examples: [
      '--bot-id 7000000001 --name "Coin Garden" --webhook-url https://example.com/webhooks/ads',
      "--bot-id 7000000001 --json",
    ],
    options: { botId: "its Telegram id: the digits before the colon of its token", ...settings },
    note: ({ botId, webhookUrl }) =>
      `Keep the token now: it is not shown again.${
        webhookUrl === null
          ? ""
          : `\nIts webhook address gets a signed test event, and further events once it has answered 2xx; see it with: endpoints show ${botId}`
      }`,
  }),
  list: list("listBots", "bots", {
    description: "all bots",
    options: {
      suspended: "only suspended ones, or only others",
      category: { text: "of one category only", value: "word" },
    },
    columns,
  }),
  show: verb("showBot", {
    description: "show a bot, its settings and its tokens",
    shown: ({ tokens: _, ...of }) => of,
    note: ({ tokens }) => tableOf(tokens, tokenColumns),
  }),
  "app-origins": list("listAppOrigins", "origins", {
    description: "whether the in-app script was seen on the bot's app origins, and on others that name the bot",
    columns: {
      ORIGIN: "origin",
      REGISTERED: ({ isRegistered }) => (isRegistered ? "yes" : "no"),
      SEEN: ({ seenAt }) => seenAt ?? "not yet",
      VERSION: "version",
      STATE: ({ isRegistered, state }) =>
        isRegistered && state === "not-registered"
          ? "not seen since it was registered: open the page again"
          : state && scriptStatesInEnglish[state],
    },
    text: (_rows, { scriptUrl, pinned }, table) =>
      [
        table,
        `The script: <script src="${scriptUrl}"></script>`,
        ...(pinned
          ? [
              `As it is now, for good: <script src="${pinned.url}" integrity="${pinned.integrity}" crossorigin="anonymous"></script>`,
            ]
          : []),
      ].join("\n"),
  }),
  update: verb("updateBot", {
    description: "change settings of a bot; the others stay",
    examples: ["7000000001 --cooldown 30 --daily-cap 10"],
    options: settings,
  }),
  picture: pictureVerb("bot", "set the picture that the bot's users see in the mini-app"),
  "unit-icon": pictureVerb("unit", "set the icon beside an amount in the bot's unit"),
  order: verb("explainOrder", {
    description: "in which order its VAST tags are requested, and from which figures of seven days",
    options: { country: "of viewers; without it, the figures of all" },
    shown: ({ sources: _, ...of }) => of,
    note: ({ sources }) =>
      tableOf(sources, {
        PLACE: "place",
        CAMPAIGN: "name",
        TRIES: "tries",
        FILLS: "fills",
        EARNED: ({ earnedMicros }) => amountOf(earnedMicros),
        "FILL SHARE": ({ fillShare }) => `${Math.round(fillShare * 100)} %`,
        "PER FILL": ({ fillMicros }) => amountOf(fillMicros),
        ID: "campaignId",
      }),
  }),
  "set-order": verb("setOrder", {
    description: "say how its VAST tags are ordered: by what they earned, in a fixed order, or drawn by weight",
    options: {
      mode: "how they are ordered",
      campaignIds: { flag: "campaign", value: "id", text: "for a fixed order: the first one first" },
    },
    examples: ["7000000001 --mode fixed --campaign cmp_2 --campaign cmp_1", "7000000001 --mode earned"],
    shown: ({ sources: _, ...of }) => of,
  }),
  suspend: verb("suspendBot", {
    description:
      "answer its requests with 403, start no ads and count no clicks; ads that play already are paid, and events delivered",
  }),
  resume: verb("resumeBot", { description: "undo suspend" }),
});

function pictureVerb(picture: PictureOfBot, description: string): Verb {
  return (command, context) => {
    const name = `bots ${command.name()}`;
    withExamples(command.description(description), [
      `${name} 7000000001 ${command.name()}.png`,
      `${name} 7000000001 none`,
    ])
      .argument("<bot-id>", "Telegram id of the bot", telegramIdOption)
      .argument("<file>", "JPEG, PNG or WebP; none removes it", (file) => (file === "none" ? file : existingFile(file)))
      .action(async (botId: string, file: string) => {
        const params = { botId, picture };
        const bot = await (file === "none"
          ? callRoute(context, "removeBotPicture", { params })
          : uploadPicture(context, { file, next: `${name} ${botId} ${file}` }, { name: "setBotPicture", params }));
        context.print(bot, () => recordOf(bot));
      });
  };
}
