import type {} from "@intermission/publisher/in-app";

const ads = Intermission.init({ botId: "7000000001" });

/** In place of RichAds' script: calls of the page stay. */
class TelegramAdsController {
  initialize(_ids: { pubId: string; appId: string }): void {}

  async triggerInterstitialVideo(): Promise<void> {
    const { outcome } = await ads.show();
    if (outcome !== "credited" && outcome !== "watched") throw new Error(outcome);
  }
}

const controller = new TelegramAdsController();
controller.initialize({ pubId: "123456", appId: "7890" });
const button = document.querySelector("button");
const said = document.querySelector("p");

button?.addEventListener("click", () => {
  const say = (text: string) => {
    if (said) said.textContent = text;
  };
  controller.triggerInterstitialVideo().then(
    () => say("Thank you!"),
    (error: Error) => say(`No reward: ${error.message}`),
  );
});
