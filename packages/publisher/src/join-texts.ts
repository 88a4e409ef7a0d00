import type { JoinTexts } from "./join-languages.ts";

const english: JoinTexts = {
  offer: "You want to join “{title}”. Watch one short ad to the end and close it, and you are in.",
  button: "▶️ Watch and join",
};

/** In the user's language, as Telegram names it: one of the fifteen of the mini-app, else English. */
export async function joinTexts(languageCode = "en"): Promise<JoinTexts> {
  const language = languageCode.toLowerCase().split(/[-_]/, 1)[0] ?? "en";
  if (language === "en") return english;
  const { joinLanguage } = await import("./join-languages.ts");
  return joinLanguage(language) ?? english;
}
