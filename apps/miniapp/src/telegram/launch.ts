import type { Consent } from "@intermission/ad-core/consent";
/** How this page was opened. Nothing in it is trusted: the ad service verifies the signature in `initData`. */
export interface Launch {
  /** The last segment of the URL's path. */
  readonly botId: string | undefined;
  /** Telegram's signed data, as the unchanged raw string. */
  readonly initData: string | undefined;
  /** In a frame of the publisher's own mini-app: opens ads instead of the launch data, which grows old. */
  readonly appGrant?: string;
  readonly note?: string | undefined;
  readonly consent?: Consent | undefined;
  readonly format?: "rewarded" | "interstitial" | undefined;
  readonly code: string | undefined;
  /** Telegram's `startapp` parameter as it is in the address, for clients that do not sign it. */
  readonly startParam: string | undefined;
  /** The client's colours by name, as `#rgb…`. */
  readonly theme: Readonly<Record<string, string>>;
  /** Version of the Telegram client's mini-app interface; undefined outside Telegram. */
  readonly version: string | undefined;
}

/**
 * Reads every form of launch: `?code=`, `startapp`, `?user_tg_id=` (ignored, because anyone can forge it) or none. A signed
 * `startapp` value stays in the launch data, where the ad service reads it: it may be a code, or the publisher's own.
 */
export function readLaunch(address: Pick<Location, "pathname" | "search" | "hash">): Launch {
  const query = new URLSearchParams(address.search);
  // If the URL already has a hash, Telegram appends its parameters after a "?".
  const fragment = address.hash.replace(/^#([^=]*\?)?/, "");
  const parameters = new URLSearchParams(fragment);
  const ofTelegram = (name: string) => parameters.get(`tgWebApp${name}`) || undefined;
  // Some clients and routers decode the fragment: the data's own "&" and "=" are then among those of Telegram's parameters.
  const decoded = /\btgWebAppData=([^&]*=.*?)(&tgWebApp|$)/.exec(fragment);
  return {
    botId: /\/([1-9]\d{0,19})\/*$/.exec(address.pathname)?.[1],
    initData: decoded?.[1] || ofTelegram("Data"),
    code: query.get("code") || undefined,
    startParam: query.get("tgWebAppStartParam") || ofTelegram("StartParam"),
    theme: readTheme(ofTelegram("ThemeParams")),
    version: ofTelegram("Version"),
  };
}

/** Whether Telegram for Android calls this phone slow; it says so in the name of its browser. */
export function isSlowPhone(userAgent: string): boolean {
  return /Telegram-Android\/.*;\s*LOW\)/.test(userAgent);
}

/**
 * Omits values that are not colours, so that launch data cannot inject other CSS into a style. Telegram for Android sends some
 * as its own numbers, with the alpha channel first: -1 is white.
 */
export function readTheme(json = ""): Record<string, string> {
  try {
    const read = JSON.parse(json, (_name, value) =>
      value === Number(value) ? `#${((value & 0xffffff) | 0x1000000).toString(16).slice(1)}` : value,
    );
    const theme = Object.entries<string>(read);
    return Object.fromEntries(theme.filter(([, value]) => /^#([\da-f]{3}){1,2}$/i.test(value)));
  } catch {
    return {};
  }
}
