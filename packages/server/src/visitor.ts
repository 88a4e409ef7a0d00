import { createIsbotFromList, list as isbotList } from "isbot";
import { BoundedCache } from "./bounded-cache.ts";

type Agent = "browser" | "crawler-like" | "unknown-agent" | "crawler" | "library";

/** A platform in brackets and an engine: browsers, in-app browsers and webviews. Old phones use other formats. */
const BROWSER = [
  /^Mozilla\/\d\.\d \([^()]*(?:\([^()]*\)[^()]*)*\).*(?:AppleWebKit\/|Gecko)/,
  /^Mozilla\/\d\.\d \(compatible; MSIE /,
  /^Opera\/\d\S* \(|^UCWEB(?:\/|\d)|Opera Mini\/|UCBrowser\/|\/MIDP|Configuration\/CLDC/,
  /\bUP\.(?:Browser|Link)\/|\bNetFront\/|\bTelecaBrowser\/|\bObigo\b|^DoCoMo\/|^POLARIS\/|\bPalmOS\b/,
];

/** The in-app browser of Facebook's apps sometimes names only the app, behind the HTTP library of its platform. */
const IN_APP = /\bFB(?:AN|AV|_IAB)\//;

/** Systems of phones and tablets. A crawler that imitates one imitates a whole browser. */
const PHONE =
  /\b(?:Android|iPhone|iPad|iPod|iOS|Windows Phone|HarmonyOS|KAIOS|Tizen|web0s|BlackBerry|BB10|Symbian|SymbianOS)\b/i;

/** Crawlers include the address of their owner, by convention after a plus sign; few browsers include one. */
const CONTACT = /https?:\/\/|\bwww\.|mailto:|[\w.-]+@[\w-]+\.[a-z]|\.com\b/i;
const OWNER = /\+ ?(?:https?:|www\.|mailto:)/i;

/** Of browsers, only Internet Explorer and old desktop browsers call themselves compatible; crawlers do by convention. */
const COMPATIBLE = /\bcompatible;(?! ?MSIE)/i;
const DESKTOP = /\b(?:Linux|Windows|Macintosh|Mac OS|X11|\w*BSD|PalmOS|BeOS|AmigaOS)\b/;

/** What programs call themselves that fetch pages for other programs. */
const MACHINE_WORDS =
  /http|fetch|indexer|finder|uptime|webhook|favicon|screenshot|resolver|callout|scoring|api\b|client\b|connector|daemon|search/i;

/** No version and no device (one word, two words); or a browser's first words alone. Only scripts send these. */
const BARE = /^\D*$|^Mozilla\/\d\.\d\W*(?:\(\W*(?:compatible)?\W*\))?\W*$/i;

/** Crawlers, link previews and automation that pretend to be a browser. */
const KNOWN_MACHINES = new RegExp(
  [
    "facebookexternalhit|facebookcatalog|facebot|meta-external|twitterbot|telegrambot|discordbot|slackbot|slack-imgproxy",
    "linkedinbot|vkshare|skypeuripreview|pinterestbot|redditbot|snapchat url preview|link preview|web preview",
    "google(?:bot|other|imageproxy| favicon| page ?speed| search console|_partner)|\\bgoogle-(?!play)|(?:store|playstore|duplexweb)(?:bot)?-google",
    "adsbot|mediapartners|feedfetcher|apis-google|bingbot|bingpreview|msnbot|adidxbot|applebot|360spider|yisouspider",
    "yandex\\w*bot|yandex(?:images|metrika|direct|favicons)|mail\\.ru_bot|slurp|duckduckbot|duckassistbot|baiduspider",
    "bytespider|sogou (?:web|inst|pic)|petalbot|semrushbot|ahrefsbot|mj12bot|dotbot|gptbot|chatgpt-user|oai-searchbot",
    "claudebot|claude-(?:user|web|searchbot)|perplexity(?:bot|-user)|ccbot\\/|amazonbot|archive\\.org_bot|ia_archiver",
    "headlesschrome|phantomjs|slimerjs|puppeteer|playwright|selenium|cypress\\/|webdriver|chrome-lighthouse|pagespeed",
    "^whatsapp\\/|^viber(?:\\/[\\d.]+)?$|gtmetrix|pingdom|uptimerobot|statuscake|site24x7|screaming frog|embedly|iframely|kakaotalk-scrap",
  ].join("|"),
  "i",
);

/** Clients of scripts and command lines, by the product that their agent begins with. */
const CLIENT =
  /^(?:curl|wget|aria2|httpie|libcurl|(?:go-)?http[-_]?client|go-resty|colly|python|aiohttp|httpx|scrapy|axios|node|undici|got|superagent|needle|bun|deno|java|jersey|apache|okhttp|libwww|lwp|php|guzzle|symfony|ruby|faraday|typhoeus|mechanize|rest-?client|restsharp|powershell|postman|insomnia|k6|wrk|ab|vegeta|jmeter|locust|zgrab|nikto|sqlmap|reqwest|hyper|ureq)\b/i;

/** HTTP libraries of apps and scripts. Alone they indicate no person: a browser of the same app identifies itself. */
const LIBRARIES =
  /CFNetwork\/|\bDarwin\/\d|^Dalvik\/|\bDart\/|dart:io|HttpClient|; Scale\/\d|NetworkingExtension\/|Alamofire\/|NSURLSession|okhttp|Volley|Cronet|reqwest|libcurl|winhttp/i;

/**
 * What isbot lists by name. Its other patterns describe shapes (a product alone, fifty characters without a blank), which
 * in-app browsers and old phones have, too. `CONTACT` judges addresses, and `KNOWN_MACHINES` Google's, since isbot lists
 * each phone by Google.
 */
const isNamedMachine = createIsbotFromList(isbotList.filter(isName));

function isName(pattern: string): boolean {
  if (/google|http|\.com/.test(pattern)) return false;
  const literals = pattern.replace(/\\.|\[[^\]]*\]|\(\?<?[:=!]/g, " ").replace(/mozilla|compatible/g, "");
  return /[a-z]{2}|\w{3}/i.test(literals);
}

/** Longer ones are forged: the limit bounds the time of the patterns. */
const MAX_AGENT_LENGTH = 1024;

/** What user agents were judged to be. Most visitors share a few hundred of them; the patterns take 12 µs. */
export type KnownAgents = BoundedCache<string, Agent>;

export const openKnownAgents = (): KnownAgents => new BoundedCache(2000);

/**
 * Classifies a user agent. A `crawler` or `library` identifies itself, by a name or the address of its owner, or has neither
 * version nor device. A browser or phone that only contains a word of the crawlers' list (a phone called Spider, an app
 * called ChatBot) is `crawler-like`; an agent without any of these signs is unknown. Both may belong to a person.
 */
export function recogniseAgent(agents: KnownAgents, fullAgent: string): Agent {
  const agent = fullAgent.slice(0, MAX_AGENT_LENGTH);
  const known = agents.get(agent);
  if (known !== undefined) return known;
  const judged = judgeAgent(agent);
  agents.set(agent, judged);
  return judged;
}

function judgeAgent(agent: string): Agent {
  if ([KNOWN_MACHINES, CLIENT, OWNER, BARE].some((machines) => machines.test(agent))) return "crawler";
  const isNamed = isNamedMachine(agent);
  const hasContact = CONTACT.test(agent);
  const isCompatible = COMPATIBLE.test(agent);
  if (BROWSER.some((form) => form.test(agent))) {
    // One sign alone may be a person's: a phone called Spider, a toolbar's address, Konqueror.
    if ([isNamed, hasContact, isCompatible].filter(Boolean).length > 1) return "crawler";
    return isNamed || hasContact ? "crawler-like" : "browser";
  }
  if (IN_APP.test(agent)) return isNamed ? "crawler-like" : "unknown-agent";
  if (hasContact) return "crawler";
  const isPhone = PHONE.test(agent);
  if (isCompatible && !isPhone && !DESKTOP.test(agent)) return "crawler";
  if ((isNamed || MACHINE_WORDS.test(agent)) && !isPhone) return "crawler";
  if (LIBRARIES.test(agent)) return "library";
  return isNamed ? "crawler-like" : "unknown-agent";
}

export type Visitor =
  | { kind: "person" }
  /** May be a person: one tap decides. */
  | {
      kind: "doubtful";
      reason:
        | "embedded"
        | "scripted"
        | "no-language"
        | "foreign-form"
        | "no-token"
        // By its user agent: a browser or phone with a word of the crawlers' list, or an unknown agent.
        | "crawler-like"
        | "unknown-agent";
    }
  | { kind: "machine"; reason: "head" | "prefetch" | "empty-agent" | "crawler" | "library" };

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Classifies the visitor by the request alone. Machines are the requests that identify themselves as such, above all
 * messengers' previews: they fetch each link a bot sends, seconds before its user can tap. A forged request passes
 * here; the limits bound what it earns.
 */
export function recognisePerson(
  agents: KnownAgents,
  method: string,
  headers: RequestHeaders,
  ownOrigin?: string,
): Visitor {
  const agent = text(headers["user-agent"]);
  if (method === "HEAD") return { kind: "machine", reason: "head" };
  if (isPrefetch(headers)) return { kind: "machine", reason: "prefetch" };
  if (agent === "") return { kind: "machine", reason: "empty-agent" };
  const recognised = recogniseAgent(agents, agent);
  if (recognised === "crawler" || recognised === "library") return { kind: "machine", reason: recognised };

  // Older browsers send none of the Sec-Fetch headers; in browsers that do, a page cannot forge them.
  const destination = text(headers["sec-fetch-dest"]);
  if (destination !== "" && destination !== "document") return { kind: "doubtful", reason: "embedded" };
  if (method === "POST")
    return isOwnForm(headers, ownOrigin) ? { kind: "person" } : { kind: "doubtful", reason: "foreign-form" };
  if (recognised !== "browser") return { kind: "doubtful", reason: recognised };
  if (isScripted(headers)) return { kind: "doubtful", reason: "scripted" };
  if (text(headers["accept-language"]) === "") return { kind: "doubtful", reason: "no-language" };
  return { kind: "person" };
}

function isPrefetch(headers: RequestHeaders): boolean {
  const purposes = [headers["sec-purpose"], headers.purpose, headers["x-purpose"], headers["x-moz"]].map(text);
  return purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose));
}

/** Another site's page navigated the browser here without a tap. Only Chromium reports whether there was one. */
function isScripted(headers: RequestHeaders): boolean {
  const isChromium = headers["sec-ch-ua"] !== undefined;
  return isChromium && text(headers["sec-fetch-site"]) === "cross-site" && text(headers["sec-fetch-user"]) !== "?1";
}

/**
 * A browser that omits or hides the form's origin is accepted here: the form's token decides. A proxy may have
 * rewritten `Host`, so the configured address of the links counts as our own, too.
 */
function isOwnForm(headers: RequestHeaders, ownOrigin: string | undefined): boolean {
  const site = text(headers["sec-fetch-site"]);
  if (site !== "") return site === "same-origin";
  const origin = text(headers.origin);
  if (origin === "" || origin === "null") return true;
  if (!URL.canParse(origin)) return false;
  const { origin: canonical, host } = new URL(origin);
  return canonical === ownOrigin || host === text(headers.host);
}

function text(header: string | string[] | undefined): string {
  return (typeof header === "string" ? header : (header?.join(",") ?? "")).trim();
}
