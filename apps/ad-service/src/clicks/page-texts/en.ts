import type { LinkPageTexts } from "./link-page-texts.ts";

export const en: LinkPageTexts = {
  go: "Open the page",
  back: "Back to {bot}",
  pages: {
    "tap-needed": {
      title: "One tap to go",
      text: "Tap the button to open the page. It counts only when a person taps it.",
    },
    "tap-again": {
      title: "One more tap",
      text: "Your network changed in between, or this page was open for too long. Tap once more to open the page.",
    },
    machine: { title: "A link for one person", text: "Open this link in your browser to see where it leads." },
    "unknown-code": {
      title: "This link leads nowhere",
      text: "Perhaps a part of it got lost on the way. Go back to the bot and take the link from there.",
    },
    expired: {
      title: "This link has expired",
      text: "Links like this one are short-lived. Ask the bot for a new one.",
    },
    used: {
      title: "This link has done its job",
      text: "It counted once, and there is nothing more to see. Ask the bot for a new one.",
    },
    cooldown: { title: "A little too soon", text: "The last ad was just now. This link counts again {when}." },
    "daily-cap": {
      title: "That was all for today",
      text: "You have seen as many ads as there are in a day. The next one comes {when}.",
    },
    "no-ad": {
      title: "No ad right now",
      text: "There is nothing to show at the moment. Your link stays good: try it again a little later.",
    },
    "address-limit": {
      title: "Many visits from your network today",
      text: "So many people came this way today that we cannot tell them apart. The page is open to you, but this visit earns nothing. Your link stays good: try it on another network, or tomorrow.",
    },
    "too-many-visits": {
      title: "Too many visits at once",
      text: "This link was opened very often from your network. It stays good: open it again {when}.",
    },
    unavailable: {
      title: "Please try again",
      text: "Something went wrong on our side. Your link is not used up: open it again in a moment.",
    },
  },
};
