import type { BotForPlayer, OpenSessionResponse } from "@intermission/ad-core/player-api";
import { useCallback, useEffect, useRef, useState } from "react";
import { type Answer, openSession, reportFault } from "../ad-service-client.ts";
import { retryPauseMs } from "../retry-pause.ts";
import type { Launch } from "../telegram/launch.ts";
import { describeOpening, type Opened } from "./describe-opening.ts";
import { loadVideo } from "./video-element.ts";
import type { Session } from "./watching.ts";

type Opening =
  | { readonly phase: "opening" }
  | { readonly phase: "unreachable" }
  /** This browser plays none of the service's media types. */
  | { readonly phase: "unplayable" }
  | { readonly phase: "watch"; readonly session: Session; readonly video: HTMLVideoElement }
  | Exclude<Opened, { phase: "watch" }>;

/** Failures that are retried without telling the user. */
const QUIET_FAILURES = 2;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 8000;

/** What the page started before the app's files arrived. */
export interface Start {
  readonly launch: Launch;
  /** The media types that the browser plays. */
  readonly types: readonly string[];
  readonly opening?: Promise<Answer<OpenSessionResponse>> | undefined;
  /** The result of `opening`, if it is already available: the first screen then shows it directly. */
  readonly answer?: Answer<OpenSessionResponse> | undefined;
  /** The element that is already loading. */
  readonly video: () => HTMLVideoElement | undefined;
}

interface AdView {
  opening: Opening;
  reopen: () => void;
  /** Opens another ad after the one that the app was opened for. */
  openAnother: () => void;
  /** Loads the video that another ad after this one will most likely have. Nothing is opened. */
  prepareAnother: (after: Session, media: { url: string; poster_url?: string | undefined }) => void;
}

/** The next ad's video, loading while the reward is shown. */
interface Prepared {
  readonly code: string;
  readonly video: HTMLVideoElement;
}

/** Opens the session, reusing the request and the video that the early start created, and reopens it on request. */
export function useAdSession(start: Start): AdView {
  const [opening, setOpening] = useState<Opening>(() => {
    if (start.types.length === 0) return { phase: "unplayable" };
    return isAnswered(start.answer) ? settle(start.answer, start.video()) : { phase: "opening" };
  });
  const [attempt, setAttempt] = useState(0);
  const [isAnother, setAnother] = useState(false);
  const failures = useRef(0);
  const latestVideo = useRef(opening.phase === "watch" ? opening.video : undefined);

  const prepared = useRef<Prepared>(undefined);
  const prepareAnother = useCallback<AdView["prepareAnother"]>(({ code }, { url, poster_url }) => {
    if (prepared.current?.video.src === new URL(url, location.href).href || isSavingData()) return;
    const video = loadVideo(document.createElement("video"), { media_url: url, ...(poster_url && { poster_url }) });
    prepared.current = { code, video };
  }, []);

  const reopen = useCallback(() => {
    setOpening({ phase: "opening" });
    setAttempt((count) => count + 1);
  }, []);

  const openAnother = useCallback(() => {
    setAnother(true);
    reopen();
  }, [reopen]);

  useEffect(() => {
    if (start.types.length === 0 || (attempt === 0 && isAnswered(start.answer))) return;
    const isCurrent = new AbortController();
    const tryAgain = () => isCurrent.signal.aborted || setAttempt((count) => count + 1);
    const answering = attempt === 0 && start.opening ? start.opening : open(start, isAnother, prepared.current);
    answering?.then((answer) => {
      if (isCurrent.signal.aborted) return;
      if (!isAnswered(answer)) {
        setTimeout(tryAgain, retryPauseMs(failures.current, FIRST_RETRY_MS, MAX_RETRY_MS, answer.retryAfterMs));
        window.addEventListener("online", tryAgain, { signal: isCurrent.signal });
        failures.current++;
        if (failures.current > QUIET_FAILURES || !navigator.onLine) setOpening({ phase: "unreachable" });
        return;
      }
      failures.current = 0;
      const next = settle(answer, prepared.current?.video ?? latestVideo.current ?? start.video());
      prepared.current = undefined;
      if (next.phase === "watch") latestVideo.current = next.video;
      setOpening(next);
    });
    return () => isCurrent.abort();
  }, [start, attempt, isAnother]);

  // A view that another device began may have a video that this one cannot play: the next opening has another one.
  const foreign = opening.phase === "watch" && !isPlayable(opening) ? opening.session : undefined;
  useEffect(() => {
    if (!foreign) return;
    let isCurrent = true;
    reportFault(foreign.session_id, { token: foreign.token, fault: "unsupported" }).then((answer) => {
      if (!isCurrent) return;
      const isAnother = answer.outcome === "answered" && answer.body.next_opening === "another-ad";
      if (isAnother) reopen();
      else setOpening({ phase: "unplayable" });
    });
    return () => {
      isCurrent = false;
    };
  }, [foreign, reopen]);

  return { opening: foreign ? { phase: "opening" } : opening, reopen, openAnother, prepareAnother };
}

function open(
  { launch, types }: Start,
  another: boolean,
  prepared: Prepared | undefined,
): ReturnType<typeof openSession> | undefined {
  const { botId, initData, code, startParam } = launch;
  const which = another
    ? { another, code: prepared?.code, preloaded: prepared?.video.src.split("/media/")[1] }
    : { code, start_param: startParam };
  const request = { ...which, media_types: [...types] };
  const proof = (import.meta.env.IN_APP && proofInApp(launch)) || { init_data: initData };
  return botId && initData ? openSession({ bot_id: botId, ...proof, ...request }) : undefined;
}

/** Apart, since the mini-app's own build leaves it out. */
function proofInApp({ appGrant, format, note, consent }: Launch) {
  return appGrant && { app_grant: appGrant, format, client_note: note, consent };
}

type Answered = Exclude<Answer<OpenSessionResponse>, { outcome: "unreachable" }>;

function isAnswered(answer: Answer<OpenSessionResponse> | undefined): answer is Answered {
  return answer !== undefined && answer.outcome !== "unreachable";
}

function settle(answer: Answered, loading: HTMLVideoElement | undefined): Opening {
  const opened = describeOpening(answer, Date.now());
  if ("session" in opened) showPicture(opened.session.bot);
  if (opened.phase !== "watch") return opened;
  return { ...opened, video: adopt(opened.session.ad, loading) };
}

/** Gives the style the bot's picture (`ui/pictures.css`): pages of other hosts than the ad service come without it. */
export function showPicture({ picture_url: url }: Pick<BotForPlayer, "picture_url">): void {
  if (url) document.documentElement.style.cssText += `;--bot-mark:"";--bot-picture:url("${url}")`;
}

function isPlayable({ session, video }: Extract<Opening, { phase: "watch" }>): boolean {
  return video.canPlayType(session.ad.media_type) !== "";
}

/** The element that is already loading, possibly a lighter file, unless the service has chosen another ad. */
function adopt(ad: Session["ad"], video: HTMLVideoElement | undefined): HTMLVideoElement {
  const files = [ad.media_url, ...(ad.lighter_media ?? []).map(({ url }) => url)];
  return video && files.some((file) => new URL(file, location.href).href === video.src)
    ? video
    : loadVideo(document.createElement("video"), ad);
}

/** The viewer pays for each byte, and may not want another ad. */
function isSavingData(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
