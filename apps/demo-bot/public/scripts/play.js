import { byId } from "./element.js";
import { fillWords, words } from "./words.js";

fillWords();
const DROPS_OF_AD = 3;
const initData = new URLSearchParams(location.hash.slice(1)).get("tgWebAppData") ?? "";
const ads = Intermission.init({ botId: document.body.dataset.botId });
let drops = 2;
let height = 1;

async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response;
}

/**
 * The game's backend asks for the code, so that nobody can watch with somebody else's. A game without a backend leaves this
 * out: `ads.show()` needs no code.
 */
async function newCode() {
  const { code } = await (await post("/game/code", { initData })).json();
  return code ?? undefined;
}

/** For the timeline of the demo. A game of one's own needs none. */
function tell(step) {
  const { id } = JSON.parse(new URLSearchParams(initData).get("user") ?? "{}");
  post(`/timeline/${id}`, step).catch(() => {});
}

function show() {
  byId("height").textContent = words.plantHeight(height);
  byId("water").textContent = words.drops(drops);
  byId("plant").style.transform = `scale(${1.4 + Math.min(height, 12) / 7})`;
  byId("pour").disabled = drops === 0;
}

byId("pour").addEventListener("click", () => {
  drops--;
  height++;
  byId("said").textContent = "";
  show();
});

byId("watch").addEventListener("click", async () => {
  byId("watch").disabled = true;
  try {
    const result = await ads.show({ code: await newCode(), onStart: () => tell({ kind: "first-frame" }) });
    tell({ kind: "shown", outcome: result.outcome });
    if (result.outcome === "credited" || result.outcome === "watched") drops += DROPS_OF_AD;
    byId("said").textContent = words.adOutcomes[result.outcome];
  } catch (error) {
    byId("said").textContent = error.message;
  } finally {
    byId("watch").disabled = false;
    show();
  }
});

/** Between two days an ad may be shown, which rewards nobody: the morning comes with or without it. */
byId("sleep").addEventListener("click", async () => {
  byId("sleep").disabled = true;
  try {
    await ads.show({ format: "interstitial" });
    drops++;
    byId("said").textContent = words.morning;
  } catch (error) {
    byId("said").textContent = error.message;
  } finally {
    byId("sleep").disabled = false;
    show();
  }
});

show();
