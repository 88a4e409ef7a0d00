/** The language of the user's Telegram, as the launch data says. Undefined where there is none or it cannot be read. */
export function readLanguageCode(initData: string | undefined): string | undefined {
  try {
    const user: unknown = JSON.parse(new URLSearchParams(initData).get("user") ?? "null");
    if (
      typeof user === "object" &&
      user !== null &&
      "language_code" in user &&
      typeof user.language_code === "string"
    ) {
      return user.language_code;
    }
  } catch {
    // Damaged launch data is the ad service's to judge; texts then follow the browser.
  }
  return undefined;
}
