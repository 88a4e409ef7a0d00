import { byId } from "./element.js";

const tabs = [...document.querySelectorAll('[role="tab"]')];

/** Whether the tab's panel is shown. A page without tabs shows what it has. */
export function isShown(name) {
  return byId(`tab-${name}`)?.getAttribute("aria-selected") !== "false";
}

export function showTab(name, { focus = false } = {}) {
  for (const tab of tabs) {
    const isChosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(isChosen));
    // The arrow keys move between tabs; Tab leaves them.
    tab.tabIndex = isChosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !isChosen;
    if (isChosen && focus) tab.focus();
  }
}

const nameOf = (tab) => tab.id.slice("tab-".length);

/** The tabs of the panel. `onChange` is called with the name of the tab that was chosen. */
export function startTabs(onChange) {
  const choose = (tab, focus) => {
    showTab(nameOf(tab), { focus });
    onChange(nameOf(tab));
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const edge = { Home: 0, End: tabs.length - 1 }[event.key];
      const next = edge ?? (step === undefined ? undefined : (at + step + tabs.length) % tabs.length);
      if (next === undefined) return;
      event.preventDefault();
      choose(tabs[next], true);
    });
  });
}
