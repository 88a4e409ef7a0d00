import { lazily } from "../ui/lazily.tsx";
import { OpeningEntry } from "./wait-entry.tsx";

// The screens of openings that lead to no ad, and the sheet about an ad: few users see them.
const load = () => import("./rare-entries.ts");

export const Refusal = lazily(load, ({ RefusedEntry }) => RefusedEntry, OpeningEntry);
export const OldClientEntry = lazily(load, ({ OldClient }) => OldClient, OpeningEntry);
export const OutsideEntry = lazily(load, ({ OutsideOfBot }) => OutsideOfBot, OpeningEntry);

const Nothing = () => null;

/** Until it is loaded, "Play" and Telegram's back button continue the ad. */
export const AboutAd = lazily(load, ({ AboutSheet }) => AboutSheet, Nothing);
