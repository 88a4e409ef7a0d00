/** The user's Telegram language from the launch data. Undefined if it is missing or unreadable. */
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
    // The ad service rejects damaged launch data; the texts then use the browser's language.
  }
  return undefined;
}
