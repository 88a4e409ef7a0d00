import { isbot } from "isbot";
import { LRUCache } from "lru-cache";

export type Agent = "browser" | "crawler-like" | "unknown-agent" | "crawler" | "library";

/** A platform in brackets and an engine: browsers, in-app browsers and webviews. Old phones use other formats. */
const BROWSER = [
  /^Mozilla\/\d\.\d \([^()]*(?:\([^()]*\)[^()]*)*\).*(?:AppleWebKit\/|Gecko)/,
  /^Mozilla\/\d\.\d \(compatible; MSIE /,
  /^Opera\/\d|^UCWEB\/|Opera Mini\/|UCBrowser\/|Profile\/MIDP/,
];

/** No browser includes a web or mail address, or calls itself compatible; crawlers do by convention. */
const CALLING_CARD = /https?:\/\/|\bwww\.|mailto:|[\w.-]+@[\w-]+\.[a-z]|\bcompatible;(?! ?MSIE)/i;

/** Crawlers, link previews and automation that pretend to be a browser. */
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

/** HTTP libraries of apps and scripts. Alone they indicate no person: a browser of the same app identifies itself. */
const LIBRARIES =
  /CFNetwork\/|\bDarwin\/\d|^Dalvik\/|\bDart\/|dart:io|HttpClient|; Scale\/\d|NetworkingExtension\/|Alamofire\/|NSURLSession|okhttp|Volley|Cronet|reqwest|libcurl|winhttp/i;

/** Longer ones are forged: the limit bounds the time of the patterns. */
const LONGEST_AGENT = 1024;

/** Most visitors share a few hundred agents; the patterns take 12 µs. */
const recognised = new LRUCache<string, Agent>({ max: 2000 });

/**
 * Classifies a user agent. A `crawler` or `library` identifies itself, or has no sign of a browser; a browser that only
 * contains a word of the crawlers' list (a phone called Spider, an app called ChatBot) is `crawler-like`: it may belong
 * to a person.
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
