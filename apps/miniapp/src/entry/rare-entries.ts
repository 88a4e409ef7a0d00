/** One file for the screens of openings without an ad: a file each would take more of the first load. */
export { OldClient } from "./old-client.tsx";
export { OutsideOfBot } from "./outside-telegram.tsx";
export { RefusedEntry } from "./refused-entry.tsx";
