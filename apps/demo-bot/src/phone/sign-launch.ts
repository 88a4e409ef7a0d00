import { signInitData } from "@intermission/ad-core/telegram-init-data";

export interface LaunchRequest {
  readonly miniappUrl: string;
  readonly userId: string;
  readonly language: string;
  readonly themeParams: Readonly<Record<string, string>>;
  readonly now: Date;
}

/** The address that Telegram's client would open: the button's own, and behind the hash the user's signed launch data. */
export function signLaunch(
  request: LaunchRequest,
  telegram: { readonly botId: string; readonly botToken: string; readonly privateKey: string },
): string {
  const authDate = Math.floor(request.now.getTime() / 1000);
  const user = { id: Number(request.userId), first_name: "Robin", language_code: request.language.slice(0, 2) };
  const fields = { auth_date: String(authDate), query_id: `AAF${request.userId}`, user: JSON.stringify(user) };
  const launch = new URLSearchParams({
    tgWebAppData: signInitData({ fields, ...telegram }),
    tgWebAppVersion: "9.1",
    tgWebAppPlatform: "weba",
    tgWebAppThemeParams: JSON.stringify(request.themeParams),
  });
  return `${request.miniappUrl}#${launch}`;
}
