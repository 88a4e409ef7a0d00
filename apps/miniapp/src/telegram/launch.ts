/** How this page was opened. Nothing in it is trusted: the ad service decides by the signature in `initData`. */
export interface Launch {
  /** The last part of the address's path. */
  readonly botId: string | undefined;
  /** Telegram's signed data, the raw string as it came. */
  readonly initData: string | undefined;
  readonly code: string | undefined;
  /** Colours of the client by their names, as `#rgb…`. */
  readonly theme: Readonly<Record<string, string>>;
  /** Of the Telegram client's interface to mini-apps. */
  readonly version: string;
}

const LONGEST_CODE = 64;

/** Reads every form of launch: `?code=`, `startapp`, `?user_tg_id=` (which is ignored: anybody can write it) or nothing. */
export function readLaunch(address: Pick<Location, "pathname" | "search" | "hash">): Launch {
  const query = new URLSearchParams(address.search);
  // A page that was opened with a hash of its own gets Telegram's parameters after a "?".
  const hash = new URLSearchParams(address.hash.replace(/^#([^=]*\?)?/, ""));
  const initData = hash.get("tgWebAppData") || undefined;
  const code =
    query.get("code") ||
    new URLSearchParams(initData).get("start_param") ||
    query.get("tgWebAppStartParam") ||
    hash.get("tgWebAppStartParam");
  return {
    botId: /\/([1-9]\d{0,19})\/*$/.exec(address.pathname)?.[1],
    initData,
    code: code?.slice(0, LONGEST_CODE) || undefined,
    theme: readTheme(hash.get("tgWebAppThemeParams")),
    version: hash.get("tgWebAppVersion") || "6.0",
  };
}

/** What is not a colour is left out, so that no launch can put anything else into a style. */
export function readTheme(json: string | null): Record<string, string> {
  try {
    return colours(JSON.parse(json || "{}"));
  } catch {
    return {};
  }
}

function colours(theme: object): Record<string, string> {
  return Object.fromEntries(Object.entries(theme ?? {}).filter(([, value]) => /^#([\da-f]{3}){1,2}$/i.test(value)));
}
