import createAdHandler from "monetag-tg-sdk";

const showAd = createAdHandler(123456);
const button = document.querySelector("button");
const said = document.querySelector("p");

button?.addEventListener("click", () => {
  const say = (text: string) => {
    if (said) said.textContent = text;
  };
  showAd({ type: "end", ymid: "level 3", requestVar: "shop" }).then(
    () => say("Thank you!"),
    (error: Error) => say(`No reward: ${error.message}`),
  );
});
