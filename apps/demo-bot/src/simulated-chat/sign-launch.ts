import { signInitData } from "@intermission/ad-core/telegram-init-data";

export interface LaunchRequest {
  readonly miniappUrl: string;
  readonly userId: string;
  readonly language: string;
  /** Colours by Telegram's names, such as `bg_color`. */
  readonly themeParams: Readonly<Record<string, string>>;
  /** Telegram's name of its client: `web`, `ios`, `android` … */
  readonly platform: string;
  /** A reply keyboard's button opens the app. Telegram then passes no launch data. */
  readonly isReplyKeyboard: boolean;
  readonly joinQueryId?: string | undefined;
  readonly now: Date;
}

export interface TelegramIdentity {
  readonly botId: string;
  readonly botToken: string;
  /** Ed25519, PKCS #8 DER in base64: the demo's stand-in for Telegram's own key. */
  readonly privateKey: string;
}

/**
 * The URL that Telegram's client opens: the button's URL with the user's signed launch data in the fragment. For a reply
 * keyboard's button there are none (Bot API, `WebApp.initData`: empty if the app was launched from a keyboard button).
 */
export function signLaunch(request: LaunchRequest, telegram: TelegramIdentity): string {
  const user = {
    id: Number(request.userId),
    first_name: "Robin",
    language_code: request.language.split("-", 1)[0]?.toLowerCase(),
  };
  const fields = {
    auth_date: String(Math.floor(request.now.getTime() / 1000)),
    // Opened for a request to join, the app has no message to answer.
    ...(request.joinQueryId === undefined
      ? { query_id: `demo${request.userId}` }
      : { chat_join_request_query_id: request.joinQueryId }),
    user: JSON.stringify(user),
  };
  const launch = new URLSearchParams({
    ...(!request.isReplyKeyboard && { tgWebAppData: signInitData({ fields, ...telegram }) }),
    tgWebAppVersion: "9.1",
    tgWebAppPlatform: request.platform,
    tgWebAppThemeParams: JSON.stringify(request.themeParams),
  });
  return `${request.miniappUrl}#${launch}`;
}
