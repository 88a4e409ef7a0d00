/**
 * One file for what few users see. A file each would take more of the first load; one more file than there are now makes the
 * bundler move React's small modules into a second file of the first load, 0.7 kB of it.
 */
export { AboutSheet } from "../about-ad/about-sheet.tsx";
export { OldClient } from "./old-client.tsx";
export { OutsideOfBot } from "./outside-telegram.tsx";
export { RefusedEntry } from "./refused-entry.tsx";
