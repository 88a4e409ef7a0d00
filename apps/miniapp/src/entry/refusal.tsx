import { type ComponentProps, useEffect, useState } from "react";
import type { RefusedEntry } from "./refused-entry.tsx";
import { OpeningEntry } from "./wait-entry.tsx";

type RefusedEntryModule = typeof import("./refused-entry.tsx");

const PAUSE_MS = 2000;

let loaded: RefusedEntryModule | undefined;

/** Retries, so that a lost connection only delays it. */
async function load(): Promise<RefusedEntryModule> {
  for (;;) {
    try {
      loaded = await import("./refused-entry.tsx");
      return loaded;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** The screen of a refused opening, which is not part of the first load: most openings lead to an ad. */
export function Refusal(props: ComponentProps<typeof RefusedEntry>) {
  const [screen, setScreen] = useState(loaded);
  useEffect(() => {
    if (!screen) load().then(setScreen);
  }, [screen]);
  return screen ? <screen.RefusedEntry {...props} /> : <OpeningEntry />;
}
