import { countWords, waitWords } from "./count-words.ts";
import type { Phrases } from "./phrases.ts";

const coins = countWords("en", { one: "coin", other: "coins" });
const wait = waitWords({
  seconds: countWords("en", { one: "second", other: "seconds" }),
  minutes: countWords("en", { one: "minute", other: "minutes" }),
  hours: countWords("en", { one: "hour", other: "hours" }),
});

export const english: Phrases = {
  commands: { "/bonus": "Earn coins", "/balance": "Balance", "/buy": "Buy seeds" },
  welcome: (price) =>
    `Welcome to Coin Garden! A packet of seeds costs ${coins(price)}. No coins yet? Send /bonus, watch a short ad, and I pay you for it.`,
  offer: "Here is an ad for you. Watch it to the end, close it, and the coins are yours.",
  watch: "Watch an ad",
  useLink: "No mini-apps? Use this link",
  noAdNow: (seconds) =>
    seconds === undefined
      ? "I can’t reach the ads right now. Please try again in a moment."
      : `I can’t reach the ads right now. Please try again in ${wait(seconds)}.`,
  tooSoon: (seconds) => `You just had one. The next ad is ready in ${wait(seconds)}.`,
  balance: (amount) => `You have ${coins(amount)}.`,
  tooPoor: (price, amount) => `Seeds cost ${coins(price)}, and you have ${coins(amount)}. An ad earns you more: /bonus`,
  bought: (amount) => `Here are your seeds! You have ${coins(amount)} left.`,
  rewarded: (amount, balance, event) =>
    `+${coins(amount)} ${event === "rewarded" ? "for watching" : "for following the link"}. You have ${coins(balance)} now.`,
  unpaid: {
    "daily-cap": "Thank you! That was beyond today’s limit, so there are no coins for it. Come back tomorrow.",
    "code-already-paid":
      "Thank you! The ad and its link pay once together, and that one was paid before. /bonus gets you a new one.",
    "code-of-another-user": "That ad was somebody else’s, so there are no coins for it. Send /bonus for your own.",
  },
  unknown: "I understand /bonus, /balance and /buy.",
  failed: "Something went wrong on my side. Please try again in a moment.",
  purchaseUnclear: "The shop did not answer. Please look at your balance before you try again.",
};
