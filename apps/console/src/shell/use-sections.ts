import { usePerson, useRoleMay } from "../session/use-session.ts";
import { sections } from "./sections.ts";

/** The sections for the person's role, in the order of the menu. For an advertiser, the advertisers' section is its balance. */
export function useSections() {
  const roleMay = useRoleMay();
  const isAdvertiser = usePerson().advertiserId !== null;
  const named = sections.map((section) =>
    section.to === "/advertisers" && isAdvertiser ? { ...section, word: "balance" as const } : section,
  );
  return named.filter(({ needs }) => roleMay(needs));
}
