import { lazily } from "../ui/lazily.tsx";
import { OpeningEntry } from "./wait-entry.tsx";

// The screens of an opening without an ad. Most openings lead to one.
const load = () => import("./rare-entries.ts");

export const Refusal = lazily(load, ({ RefusedEntry }) => RefusedEntry, OpeningEntry);
export const OldClientEntry = lazily(load, ({ OldClient }) => OldClient, OpeningEntry);
export const OutsideEntry = lazily(load, ({ OutsideOfBot }) => OutsideOfBot, OpeningEntry);
