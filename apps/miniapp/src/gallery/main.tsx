/**
 * A development page: `#state=offer&theme=dark&language=ar` shows one state as the app does; without a hash it shows all
 * states. It needs no server of this project. The app's build excludes it and fails if it does not.
 */
import { type ReactNode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { loadTranslator } from "../locales/load-translator.ts";
import { TranslatorProvider } from "../locales/use-translator.tsx";
import { paintTheme } from "../telegram/paint-theme.ts";
import { assistLargeText } from "../ui/assist-reading.ts";
import { Gallery } from "./gallery.tsx";
import { states } from "./states.tsx";
import { themes } from "./themes.ts";
import "../ui/styles.css";
import "../tasks/tasks.css";
import "./gallery.css";

const place = document.getElementById("root");
if (!place) throw new Error("gallery.html has no #root");
const root = createRoot(place);
let stopAssisting: (() => void) | undefined;

declare global {
  interface Window {
    /** For tests: shows one state with its finite animations finished. */
    showState: (shown: Record<string, string>) => Promise<void>;
  }
}

async function show(): Promise<void> {
  const shown = new URLSearchParams(location.hash.slice(1));
  const state = states[shown.get("state") ?? ""];
  if (!state) return root.render(<Gallery />);
  const { documentElement: page } = document;
  page.removeAttribute("style");
  delete page.dataset.scheme;
  delete page.dataset.text;
  page.style.fontSize = `${Number(shown.get("scale") ?? 1) * 100}%`;
  stopAssisting?.();
  stopAssisting = place ? assistLargeText(place) : undefined;
  paintTheme(themes[shown.get("theme") ?? "own"] ?? {});
  const translator = await loadTranslator(shown.get("language") ?? "en");
  await new Promise<void>((resolve) =>
    root.render(
      <TranslatorProvider value={translator}>
        {/* The key remounts each state, as in the app. */}
        <Shown key={location.hash} onShown={resolve}>
          {state()}
        </Shown>
      </TranslatorProvider>,
    ),
  );
}

function Shown({ children, onShown }: { children: ReactNode; onShown: () => void }) {
  useEffect(onShown, [onShown]);
  return <div className="gallery-state">{children}</div>;
}

window.showState = async (shown) => {
  history.replaceState(null, "", `#${new URLSearchParams(shown)}`);
  await show();
  // An advertiser's picture appears once it is loaded, as do the texts about the ad.
  const hasPicture = () => document.querySelector("[data-shape='picture']") !== null;
  while (shown.state?.startsWith("watched-companion") && !hasPicture()) await new Promise(requestAnimationFrame);
  const hasSheet = () => document.querySelector(".about") !== null;
  while (shown.state?.startsWith("about-") && !hasSheet()) await new Promise(requestAnimationFrame);
  const hasTasks = () => document.documentElement.dataset.state?.startsWith("tasks");
  while (shown.state?.startsWith("tasks-") && !hasTasks()) await new Promise(requestAnimationFrame);
  for (const animation of document.getAnimations()) {
    if (animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY) animation.finish();
  }
};
document.documentElement.dataset.states = Object.keys(states).join(" ");
addEventListener("hashchange", show);
await show();
