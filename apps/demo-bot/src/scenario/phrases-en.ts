import { countWords, waitWords } from "./count-words.ts";
import type { Phrases } from "./phrases.ts";

const coins = countWords("en", { one: "coin", other: "coins" });
const wait = waitWords({
  seconds: countWords("en", { one: "second", other: "seconds" }),
  minutes: countWords("en", { one: "minute", other: "minutes" }),
  hours: countWords("en", { one: "hour", other: "hours" }),
});

const days = countWords("en", { one: "day", other: "days" });
const deeds = { rewarded: "for watching", direct_link: "for following the link", task: "for joining" };

export const english: Phrases = {
  commands: { "/bonus": "Earn coins", "/tasks": "Join a channel", "/balance": "Balance", "/buy": "Buy seeds" },
  welcome: (price) =>
    `Welcome to Coin Garden! A packet of seeds costs ${coins(price)}. No coins yet? Send /bonus, watch a short ad, and I pay you for it.`,
  offer: "Here is an ad for you. Watch it to the end, close it, and the coins are yours.",
  watch: "Watch an ad",
  useLink: "No mini-apps? Use this link",
  tasks: (count) =>
    `Ad: join the channel, and you get coins at once. Leave it within ${days(count)}, and I take them back.`,
  noTask: "There is no channel to join for you now.",
  noAdNow: (seconds) =>
    seconds === undefined
      ? "I can’t reach the ads right now. Please try again in a moment."
      : `I can’t reach the ads right now. Please try again in ${wait(seconds)}.`,
  tooSoon: (seconds) => `You just had one. The next ad is ready in ${wait(seconds)}.`,
  balance: (amount) => `You have ${coins(amount)}.`,
  tooPoor: (price, amount) => `Seeds cost ${coins(price)}, and you have ${coins(amount)}. An ad earns you more: /bonus`,
  bought: (amount) => `Here are your seeds! You have ${coins(amount)} left.`,
  rewarded: (amount, balance, event) => `+${coins(amount)} ${deeds[event]}. You have ${coins(balance)} now.`,
  takenBack: (amount, balance) => `−${coins(amount)}: you left the channel too early. You have ${coins(balance)} now.`,
  unpaid: {
    "daily-cap": "Thank you! That was beyond today’s limit, so there are no coins for it. Come back tomorrow.",
    "code-already-paid":
      "Thank you! The ad and its link pay once together, and that one was paid before. /bonus gets you a new one.",
    "code-of-another-user": "That ad was somebody else’s, so there are no coins for it. Send /bonus for your own.",
  },
  unknown: "I understand /bonus, /tasks, /balance and /buy.",
  failed: "Something went wrong on my side. Please try again in a moment.",
  purchaseUnclear: "The shop did not answer. Please look at your balance before you try again.",
};
