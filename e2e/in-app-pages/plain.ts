import type {} from "@intermission/publisher/in-app";

const ads = Intermission.init({ botId: "7000000001" });
const button = document.querySelector("button");
const said = document.querySelector("p");

button?.addEventListener("click", async () => {
  const result = await ads.show();
  const isWatched = result.outcome === "credited" || result.outcome === "watched";
  if (said) said.textContent = isWatched ? "Thank you!" : `No reward: ${result.outcome}`;
});
