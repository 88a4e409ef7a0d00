import { type Drops, drop } from "./drops.ts";
import type { Attributes, ElementReader } from "./read-xml.ts";

/** The attributes that are used, by element, in lower case. Those of other elements are not. */
const usedAttributes: Readonly<Record<string, readonly string[]>> = {
  vast: ["version"],
  ad: ["id", "sequence"],
  inline: ["id", "sequence"],
  wrapper: ["id", "sequence", "followadditionalwrappers", "allowmultipleads"],
  category: ["authority"],
  blockedadcategories: ["authority"],
  verification: ["vendor", "apiframework"],
  javascriptresource: ["apiframework"],
  executableresource: ["apiframework"],
  universaladid: ["idregistry", "idvalue"],
  tracking: ["event", "offset"],
  mediafile: ["delivery", "type", "codec", "apiframework", "bitrate", "width", "height"],
  companionads: ["required"],
  companion: ["width", "height", "renderingmode"],
  staticresource: ["creativetype"],
};

/** Reads an element by its used attributes alone, and counts the others unless the whole element is dropped. */
export function readElement(
  drops: Drops,
  { name, attributes }: { name: string; attributes: Attributes },
  read: (used: Attributes) => ElementReader | undefined,
): ElementReader | undefined {
  const entries = Object.entries(attributes);
  const used = entries.filter(([attribute]) => usedAttributes[name]?.includes(attribute));
  const reader = read(Object.fromEntries(used));
  // Namespaces and what belongs to them, as the place of a schema, say nothing about the ad.
  const ofAd = entries.filter(([attribute]) => attribute !== "xmlns" && !attribute.includes(":"));
  if (reader) drop(drops, "attribute", ofAd.length - used.length);
  return reader;
}
