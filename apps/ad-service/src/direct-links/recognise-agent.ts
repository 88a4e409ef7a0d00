import { isbot } from "isbot";
import { LRUCache } from "lru-cache";

export type Agent = "browser" | "crawler-like" | "unknown-agent" | "crawler" | "library";

/** A platform in brackets and an engine: browsers, in-app browsers and webviews. Old phones have forms of their own. */
const BROWSER = [
  /^Mozilla\/\d\.\d \([^()]*(?:\([^()]*\)[^()]*)*\).*(?:AppleWebKit\/|Gecko)/,
  /^Mozilla\/\d\.\d \(compatible; MSIE /,
  /^Opera\/\d|^UCWEB\/|Opera Mini\/|UCBrowser\/|Profile\/MIDP/,
];

/** No browser writes a web or mail address, or calls itself compatible; crawlers do, by custom. */
const CALLING_CARD = /https?:\/\/|\bwww\.|mailto:|[\w.-]+@[\w-]+\.[a-z]|\bcompatible;(?! ?MSIE)/i;

/** Crawlers, link previews and automation that dress as a browser. */
const KNOWN_MACHINES = new RegExp(
  [
    "facebookexternalhit|facebookcatalog|facebot|meta-external|twitterbot|telegrambot|discordbot|slackbot|slack-imgproxy",
    "linkedinbot|vkshare|skypeuripreview|pinterestbot|redditbot|snapchat url preview|link preview|web preview",
    "google(?:bot|other|-)|adsbot|mediapartners|feedfetcher|apis-google|bingbot|bingpreview|msnbot|adidxbot|applebot",
    "yandex\\w*bot|yandex(?:images|metrika|direct|favicons)|mail\\.ru_bot|slurp|duckduckbot|duckassistbot|baiduspider",
    "bytespider|sogou (?:web|inst|pic)|petalbot|semrushbot|ahrefsbot|mj12bot|dotbot|gptbot|chatgpt-user|oai-searchbot",
    "claudebot|claude-(?:user|web|searchbot)|perplexity(?:bot|-user)|ccbot\\/|amazonbot|archive\\.org_bot|ia_archiver",
    "headlesschrome|phantomjs|slimerjs|puppeteer|playwright|selenium|cypress\\/|webdriver|chrome-lighthouse|pagespeed",
    "gtmetrix|pingdom|uptimerobot|statuscake|site24x7|screaming frog|embedly|iframely|kakaotalk-scrap",
  ].join("|"),
  "i",
);

/** What apps and scripts fetch with. On its own it names no person: a browser of the same app says that it is one. */
const LIBRARIES =
  /CFNetwork\/|\bDarwin\/\d|^Dalvik\/|\bDart\/|dart:io|HttpClient|; Scale\/\d|NetworkingExtension\/|Alamofire\/|NSURLSession|okhttp|Volley|Cronet|reqwest|libcurl|winhttp/i;

/** Longer ones are forged: the patterns must not take long over them. */
const LONGEST_AGENT = 1024;

/** Most visitors share a few hundred agents; the patterns take 12 µs. */
const recognised = new LRUCache<string, Agent>({ max: 2000 });

/**
 * What a user agent tells. A `crawler` or `library` says so itself, or is no browser by any sign; a browser that only holds a
 * word of the crawlers' list (a phone called Spider, an app called ChatBot) is `crawler-like`: it may well be a person's.
 */
export function recogniseAgent(fullAgent: string): Agent {
  const agent = fullAgent.slice(0, LONGEST_AGENT);
  const known = recognised.get(agent);
  if (known !== undefined) return known;
  const judged = judgeAgent(agent);
  recognised.set(agent, judged);
  return judged;
}

function judgeAgent(agent: string): Agent {
  if (KNOWN_MACHINES.test(agent)) return "crawler";
  const isListed = isbot(agent);
  if (BROWSER.some((form) => form.test(agent))) {
    if (!isListed) return "browser";
    return CALLING_CARD.test(agent) ? "crawler" : "crawler-like";
  }
  if (isListed) return "crawler";
  return LIBRARIES.test(agent) ? "library" : "unknown-agent";
}
