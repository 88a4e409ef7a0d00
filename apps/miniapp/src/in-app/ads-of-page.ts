/** What every script in a publisher's own page is made of: `/sdk/v1.js`, and those with the names of other networks. */
import type { AppGrantRequest, AppGrantResponse, ScriptTroubleRequest } from "@intermission/ad-core/player-api";
import type { ScriptTrouble } from "@intermission/ad-core/wire-fields";
import { readLaunch } from "../telegram/launch.ts";
import { type AdFrame, createAdFrame, isPageCovered } from "./ad-frame.ts";
import { clientOfPage, webApp } from "./client-relay.ts";
import { consentOfPage } from "./consent-of-page.ts";
import { isNote } from "./is-note.ts";
import type { AdFormat, TasksResult } from "./messages.ts";
import type { ShowResult } from "./show-result.ts";

interface FormatOptions {
  /** An interstitial rewards nobody, and may be skipped. Default: `rewarded`. */
  readonly format?: AdFormat;
}

interface ShowOptions extends FormatOptions {
  /** From the publisher's backend. Without one, the ad service uses the user's open code, or a new one. */
  readonly code?: string;
  /** The page's note about this ad, passed on unsigned. */
  readonly note?: string;
  /** Removes the ad. */
  readonly signal?: AbortSignal;
  /** Called when the video begins, so that a game can be silent. */
  readonly onStart?: () => void;
}

type Availability =
  | { readonly available: true }
  | { readonly available: false; readonly reason: string; readonly availableAt?: string };
type Reply =
  | { readonly kind: "answered"; readonly answer: AppGrantResponse }
  | { readonly kind: "refused" | "unavailable"; readonly reason: string };

export const VERSION = "1.0";
const { currentScript } = document;
/** The element that loads this script. Its address names the ad service. */
export const script = currentScript instanceof HTMLScriptElement ? currentScript : undefined;
const base = script?.src.replace(/\/sdk\/[^/]*$/, "") ?? "";
// Routers of pages drop the fragment later.
const launch = readLaunch(location);
/** One ad at a time in a page, whatever asks for it. */
let isShown = false;

document.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) => {
  if (base && blockedURI.startsWith(new URL(base).origin))
    console.error(`Intermission: this page's content security policy must allow ${base} in ${effectiveDirective}.`);
});

/** Errors that the page's developer must fix: calls reject with them. All other refusals are results. */
const mistakes: Readonly<Record<string, string>> = {
  BOT_UNKNOWN: "there is no bot with this botId on the ad service",
  ORIGIN_NOT_REGISTERED: `register ${location.origin} for the bot in the console, or by bots update <bot-id> --app-origin ${location.origin}, with one more --app-origin for each that it has`,
};

export function fail(sentence: string): never {
  throw new Error(`Intermission: ${sentence}`);
}

/** As text, which needs no preflight. */
const post = (path: string, body: object) =>
  fetch(`${base}/player/v1/${path}`, { method: "POST", body: JSON.stringify(body) });

/** For the publisher, who watches the console. */
function reportTrouble(botId: string, trouble: ScriptTrouble): void {
  const body: ScriptTroubleRequest = { bot_id: botId, script_version: VERSION, trouble };
  post("script-troubles", body).catch(() => {});
}

function initDataOf(botId: string): string {
  const known = webApp()?.initData || launch.initData;
  if (known) return known;
  reportTrouble(botId, "launch-data-missing");
  return fail(
    "the page has no launch data: open it from Telegram, and load this script before a router changes the address",
  );
}

const ofPage = () => ({ theme: launch.theme, version: launch.version, client: clientOfPage() });

function withoutAd({ reason = "no-ad", available_at: availableAt }: AppGrantResponse): ShowResult {
  const when = availableAt && { availableAt };
  return reason === "no-ad" ? { outcome: reason, ...when } : { outcome: "limited", reason, ...when };
}

function begin(method: string): void {
  if (isShown || isPageCovered()) fail(`${method}() was called while an ad is shown: await its result first`);
  isShown = true;
}

/** Ads of one bot. Nothing is loaded before it is asked for one. */
export function init({ botId }: { readonly botId: string }) {
  if (!/^[1-9]\d{0,19}$/.test(botId)) fail("init needs { botId: <the bot's Telegram id, as text> }");
  if (!base) fail(`load it by <script src="…/sdk/v1.js">, not as a module: its address names the ad service`);
  let grant: AppGrantResponse | undefined;
  let frame: AdFrame | undefined;
  const newFrame = (path = botId) => createAdFrame(base, path, (trouble) => reportTrouble(botId, trouble));
  const preloaded = () => {
    if (frame?.isLost) {
      frame.remove();
      frame = undefined;
    }
    return frame;
  };

  async function ask(format: AdFormat | undefined): Promise<Reply> {
    const proof = grant ? { app_grant: grant.app_grant } : { init_data: initDataOf(botId) };
    let response: Response;
    let body: AppGrantResponse & { readonly error?: { readonly code: string } };
    try {
      const request: AppGrantRequest = { bot_id: botId, ...proof, script_version: VERSION, format };
      response = await post("app-grants", request);
      body = await response.json();
    } catch {
      return { kind: "unavailable", reason: "unreachable" };
    }
    if (response.ok) {
      grant = body;
      return { kind: "answered", answer: body };
    }
    const code = body.error?.code ?? "";
    const mistake = mistakes[code];
    if (mistake) fail(mistake);
    if (response.status > 499 || response.status === 429) return { kind: "unavailable", reason: "unreachable" };
    return { kind: "refused", reason: code };
  }

  return {
    /** Whether the user could watch an ad now: a hint for a button. */
    async availability({ format }: FormatOptions = {}): Promise<Availability> {
      const reply = await ask(format);
      if (reply.kind !== "answered") return { available: false, reason: reply.reason };
      const { available, reason = "no-ad", available_at: availableAt } = reply.answer;
      return available ? { available } : { available, reason, ...(availableAt && { availableAt }) };
    },

    /** Loads the frame and the first bytes of the video, so that `show` begins at once. Holds no budget. */
    async preload({ format }: FormatOptions = {}): Promise<void> {
      const reply = await ask(format);
      if (reply.kind !== "answered" || !reply.answer.available || preloaded()) return;
      frame = newFrame();
      if (reply.answer.media) frame.preload(reply.answer.media);
    },

    /** Shows an ad over the page. Rejects only for a mistake of the page's developer. */
    async show({ format, code, note, signal, onStart }: ShowOptions = {}): Promise<ShowResult> {
      if (note !== undefined && !isNote(note)) fail("note is text of at most 128 characters, on one line");
      begin("show");
      // For the first ad of a page, the frame loads in parallel with the request for the ad.
      const first = grant || preloaded() ? undefined : newFrame();
      try {
        const [reply, consent] = await Promise.all([ask(format), consentOfPage()]);
        if (reply.kind !== "answered") return { outcome: reply.kind, reason: reply.reason };
        if (!reply.answer.available) return withoutAd(reply.answer);
        if (signal?.aborted) return { outcome: "closed-early", secondsWatched: 0 };
        const shown = preloaded() ?? (first && !first.isLost ? first : newFrame());
        frame = undefined;
        const { app_grant: appGrant, media } = reply.answer;
        if (media) shown.preload(media);
        return await shown.show<ShowResult>(
          { appGrant, format, initData: initDataOf(botId), code, note, consent, ...ofPage() },
          { signal, onStart, first: { outcome: "closed-early", secondsWatched: 0 } },
        );
      } finally {
        first?.remove();
        isShown = false;
      }
    },
    showTasks: (options?: TasksOptions) => showTasks({ botId, ask, newFrame }, options),
  };
}

type TasksOptions = Pick<ShowOptions, "signal">;

interface TasksOfBot {
  botId: string;
  ask: (format: undefined) => Promise<Reply>;
  newFrame: (path: string) => AdFrame;
}

/** Shows the user's tasks over the page until they are closed. Rejects as `show` does. */
async function showTasks({ botId, ask, newFrame }: TasksOfBot, { signal }: TasksOptions = {}): Promise<TasksResult> {
  begin("showTasks");
  try {
    const reply = await ask(undefined);
    if (reply.kind !== "answered") return { outcome: reply.kind, reason: reply.reason };
    const first: TasksResult = { outcome: "closed" };
    if (signal?.aborted) return first;
    const launch = { appGrant: reply.answer.app_grant, initData: initDataOf(botId), ...ofPage() };
    const unused = { format: undefined, code: undefined, note: undefined, consent: undefined };
    return await newFrame(`${botId}/tasks`).show({ ...launch, ...unused }, { signal, onStart: undefined, first });
  } finally {
    isShown = false;
  }
}
