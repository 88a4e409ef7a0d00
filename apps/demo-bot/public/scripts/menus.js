import { setNetwork } from "./chat-client.js";
import { chooseColours, chosenColours, onColours } from "./colours.js";
import { byId, element } from "./element.js";
import { languages } from "./languages.js";
import { language, words } from "./words.js";

const scenarios = ["cap", "no-ad", "expired", "delayed"];
/** The size of the phone is in the style sheet; the platform is what Telegram tells the mini-app. */
const platforms = { phone: "web", small: "ios", iphone: "ios", android: "android", desktop: "tdesktop" };
const networks = ["fast", "slow-3g", "offline"];

const address = new URLSearchParams(location.search);
const stage = document.querySelector(".stage");

/** A state of the mini-app that is hard to reach by using the demo; empty for the real ads. */
export let scenario = scenarios.includes(address.get("scenario")) ? address.get("scenario") : "";
export let platform = "web";

function fill(menu, names, textOf, chosen) {
  menu.replaceChildren(...names.map((value) => element("option", { value, textContent: textOf(value) })));
  menu.value = chosen;
}

function scenarioMenu() {
  const menu = byId("menu-scenario");
  fill(menu, ["", ...scenarios], (name) => words.scenarios[name], scenario);
  menu.addEventListener("change", () => {
    scenario = menu.value;
    if (scenario === "") address.delete("scenario");
    else address.set("scenario", scenario);
    history.replaceState(undefined, "", `${location.pathname}?${address}`);
  });
}

function languageMenu() {
  const menu = byId("menu-language");
  const [short] = language.toLowerCase().split("-");
  const known = short in languages ? languages : { ...languages, [short]: language };
  fill(menu, Object.keys(known), (name) => known[name], short);
  menu.addEventListener("change", () => {
    address.set("lang", menu.value);
    location.search = address;
  });
}

function themeMenu() {
  const menu = byId("menu-theme");
  fill(menu, ["system", "light", "dark"], (name) => words.themes[name], chosenColours());
  menu.addEventListener("change", () => chooseColours(menu.value));
  onColours(() => {
    menu.value = chosenColours();
  });
}

function deviceMenu() {
  const menu = byId("menu-device");
  fill(menu, Object.keys(platforms), (name) => words.devices[name], "phone");
  menu.addEventListener("change", () => {
    stage.dataset.device = menu.value;
    platform = platforms[menu.value];
  });
}

/** `onOnline` is called when the network is back: browsers tell a page. */
function networkMenu(onOnline) {
  const menu = byId("menu-network");
  fill(menu, networks, (name) => words.networks[name], "fast");
  const choose = async () => {
    await setNetwork(menu.value).catch(() => {});
    document.body.classList.toggle("offline", menu.value === "offline");
    if (menu.value !== "offline") onOnline();
  };
  menu.addEventListener("change", choose);
  // The server may remember another choice of a page that was closed.
  choose();
}

export function startMenus({ onOnline }) {
  scenarioMenu();
  languageMenu();
  themeMenu();
  deviceMenu();
  networkMenu(onOnline);
}
