/**
 * Says what to do if the app does not start: its script does not arrive, or is blocked, or this browser cannot run it. The
 * build inlines it into the page with its words, inside a function, so it is plain ES5: it must run where the app cannot.
 */

type Words = readonly [title: string, text: string, tryAgain: string, openBot: string, direction: "ltr" | "rtl"];

/** The build puts the words of all languages here. */
declare const WORDS: Readonly<Record<string, Words>>;

interface Bridge {
  postEvent(method: string, parameters: string): void;
}

var LATE_MS = 12000;
var page = document.documentElement;
var allWords = WORDS;
var isShown = false;

/** Every screen of the app sets its name. */
function hasStarted(): boolean {
  return page.hasAttribute("data-state");
}

function show(): void {
  var root = document.getElementById("root");
  if (isShown || hasStarted()) return;
  if (!root) {
    // Not `DOMContentLoaded`, which waits for the app.
    document.addEventListener("readystatechange", show);
    return;
  }
  isShown = true;
  page.setAttribute("data-state", "not-started");
  // The picture goes on loading: an app that arrives late replaces all of this, and adopts it.
  for (var index = 0; index < root.children.length; index++) {
    (root.children[index] as HTMLElement).style.display = "none";
  }
  var heading = write(root);
  tellClient("web_app_ready", "{}");
  heading.focus();
}

function write(root: HTMLElement): HTMLElement {
  var language = chooseLanguage();
  var words = allWords[language] as Words;
  var main = add(root, "main", "notice");
  main.setAttribute("lang", language);
  main.setAttribute("dir", words[4]);
  var texts = add(add(main, "div", "notice-body"), "div", "notice-words");
  var heading = add(texts, "h1", "", words[0]);
  heading.setAttribute("tabindex", "-1");
  add(texts, "p", "secondary", words[1]);
  var foot = add(main, "div", "foot");
  var named = document.querySelector('meta[name="bot-link"]');
  var link = named ? String(named.getAttribute("content")) : "";
  if (link.indexOf("https://t.me/") === 0) addLink(foot, link, words[3]);
  add(foot, "button", "button button-primary", words[2]).onclick = function () {
    location.reload();
  };
  return heading;
}

function addLink(foot: HTMLElement, link: string, label: string): void {
  var anchor = add(foot, "a", "button button-secondary", label);
  anchor.setAttribute("href", link);
  anchor.setAttribute("target", "_blank");
  anchor.setAttribute("rel", "noopener noreferrer");
  // A native web view would navigate itself.
  anchor.onclick = function () {
    return !tellClient("web_app_open_tg_link", JSON.stringify({ path_full: link.slice("https://t.me".length) }));
  };
}

function add(parent: HTMLElement, tag: string, className: string, text?: string): HTMLElement {
  var element = document.createElement(tag);
  element.className = className;
  if (text) element.appendChild(document.createTextNode(text));
  parent.appendChild(element);
  return element;
}

function tellClient(method: string, parameters: string): boolean {
  var bridge = (window as { TelegramWebviewProxy?: Bridge }).TelegramWebviewProxy;
  if (bridge) bridge.postEvent(method, parameters);
  return Boolean(bridge);
}

/** As the app does: Telegram's language, the one used here before, the browser's, English. */
function chooseLanguage(): string {
  var preferred = [languageOfLaunch(), stored(), navigator.language];
  for (var index = 0; index < preferred.length; index++) {
    var tag = String(preferred[index]).split(/[-_]/)[0] as string;
    tag = tag.toLowerCase();
    // Java's old code.
    if (tag === "in") tag = "id";
    if (Object.prototype.hasOwnProperty.call(allWords, tag)) return tag;
  }
  return "en";
}

/** The launch data are encoded twice inside the address. */
function languageOfLaunch(): string | undefined {
  var hash = location.hash;
  try {
    for (var times = 0; times < 3; times++) hash = decodeURIComponent(hash);
  } catch (_) {
    // Decoded as far as possible.
  }
  var found = /"language_code":"([\w-]+)/.exec(hash);
  return found ? found[1] : undefined;
}

function stored(): string | null {
  try {
    return localStorage.getItem("language");
  } catch (_) {
    return null;
  }
}

/** Only the app's own files count: extensions and clients run scripts in the page, too. */
function isOfApp(place: unknown): boolean {
  return String(place).indexOf("/app/assets/") > -1;
}

window.addEventListener(
  "error",
  function (event) {
    // The file or one of its imports is missing or blocked; or it stops with an error, such as one of its syntax.
    if (isOfApp(event.filename) || isOfApp((event.target as HTMLScriptElement).src)) show();
  },
  true,
);
window.addEventListener("unhandledrejection", function (event) {
  if (event.reason && isOfApp(event.reason.stack)) show();
});
if (!("noModule" in document.createElement("script"))) show();
setTimeout(show, LATE_MS);
