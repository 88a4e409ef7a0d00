import { useRoleMay } from "../session/use-session.ts";
import { sections } from "./sections.ts";

/** The sections for the person's role, in the order of the menu. */
export function useSections() {
  const roleMay = useRoleMay();
  return sections.filter(({ needs }) => roleMay(needs));
}
