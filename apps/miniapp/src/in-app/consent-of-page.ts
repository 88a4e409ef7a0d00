import type { Consent } from "@intermission/ad-core/consent";

/** IAB, "Consent Management Platform API" 2.2: what a page's platform answers. */
interface TcData {
  readonly tcString?: unknown;
  readonly gdprApplies?: unknown;
  readonly eventStatus?: unknown;
  readonly listenerId?: unknown;
}
/** IAB, "Global Privacy Platform API" 1.1. */
interface GppData {
  readonly gppString?: unknown;
  readonly signalStatus?: unknown;
  readonly applicableSections?: unknown;
}
interface ConsentWindow {
  readonly __tcfapi?: (
    command: string,
    version: number,
    callback: (data: TcData | null, isKnown: boolean) => void,
    parameter?: unknown,
  ) => void;
  readonly __gpp?: (command: string, callback: (data: GppData | null, isKnown: boolean) => void) => void;
}

/** An ad waits no longer for a platform that does not answer. */
const MAX_WAIT_MS = 300;
const consentString = /^[\w.~-]{1,4096}$/;
const isString = (text: unknown): text is string => typeof text === "string" && consentString.test(text);

/**
 * What the page's consent platforms say of the user; undefined: it has none. While the user is still being asked, the strings are
 * left out, so that nothing is sent.
 */
export async function consentOfPage(page = window as ConsentWindow): Promise<Consent | undefined> {
  const { __tcfapi, __gpp } = page;
  if (!__tcfapi && !__gpp) return undefined;
  const [tc, gpp] = await Promise.all([
    __tcfapi ? answerOf<TcData>((done) => __tcfapi("addEventListener", 2, done)) : undefined,
    __gpp ? answerOf<GppData>((done) => __gpp("ping", done)) : undefined,
  ]);
  if (__tcfapi && tc?.listenerId !== undefined)
    answerOf((done) => __tcfapi("removeEventListener", 2, done, tc.listenerId));
  const hasAnswered = tc?.eventStatus === "tcloaded" || tc?.eventStatus === "useractioncomplete";
  const sections = gpp?.applicableSections;
  return {
    // A platform that does not answer is one of a law that may apply.
    ...(__tcfapi && { gdpr: tc?.gdprApplies !== false }),
    ...(hasAnswered && isString(tc?.tcString) && { tcf: tc.tcString }),
    ...(gpp?.signalStatus === "ready" &&
      isString(gpp.gppString) && {
        gpp: gpp.gppString,
        ...(Array.isArray(sections) && sections.every(Number.isInteger) && { gpp_sid: sections.slice(0, 16) }),
      }),
  };
}

/** The first answer; undefined: none in time, or a platform that throws. */
function answerOf<Data>(ask: (done: (data: Data | null, isKnown: boolean) => void) => void): Promise<Data | undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, MAX_WAIT_MS);
    try {
      ask((data, isKnown) => resolve(isKnown && data ? data : undefined));
    } catch {
      resolve(undefined);
    }
  });
}
