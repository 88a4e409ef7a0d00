import type { VastReason } from "./vast-reasons.ts";

/** A text for each reason. */
type VastReasonTexts = {
  readonly [Kind in VastReason["kind"]]: (reason: Extract<VastReason, { kind: Kind }>) => string;
};

const KIB = 1024;
const MIB = 1024 * KIB;

export const vastReasonsInEnglish: VastReasonTexts = {
  "no-ad": () => "the tag has no ad",
  "too-slow": ({ milliseconds }) => `nothing within ${milliseconds} ms`,
  "too-many-requests": ({ max }) => `more than ${max} requests`,
  "too-many-redirects": ({ max }) => `more than ${max} redirects`,
  "too-many-wrappers": ({ max }) => `more than ${max} wrappers`,
  "redirect-without-address": () => "a redirect to no address",
  "no-answer": ({ errorClass, detail }) => `${errorClass}: ${detail}`,
  status: ({ status }) => `status ${status}`,
  "no-content": () => "an answer without content",
  blank: () => "a blank answer",
  "too-large": ({ maxBytes }) => `more than ${maxBytes / KIB} KiB`,
  incomplete: ({ maxBytes }) => `more than ${maxBytes / KIB} KiB, or broken off`,
  "all-too-large": ({ maxBytes }) => `more than ${maxBytes / MIB} MiB in all documents`,
  "address-too-long": ({ max }) => `a tag is longer than ${max} characters`,
  "unknown-encoding": ({ encoding }) => `the content encoding ${encoding} is unknown`,
  "invalid-encoding": ({ encoding }) => `the answer is no valid ${encoding}`,
  json: () => "the answer is JSON, not XML",
  "html-page": () => "the answer is an HTML page",
  doctype: () => "a DOCTYPE is refused",
  "too-many-elements": ({ max }) => `more than ${max} elements`,
  "too-deep": ({ max }) => `elements are nested more than ${max} deep`,
  "too-many-attributes": ({ max }) => `an element has more than ${max} attributes`,
  malformed: ({ detail }) => detail,
  vmap: () => "the document is a VMAP playlist: use the address of one of its ads",
  "other-root": ({ root }) => `the document is <${root}>`,
  version: ({ version }) => `VAST ${version}`,
  "neither-inline-nor-wrapper": () => "an Ad is neither InLine nor Wrapper",
  "wrapper-forbidden": () => "a wrapper leads to another, which it forbids",
  "wrapper-without-address": () => "a wrapper without an address",
  "blocked-category": ({ category }) => `an ad of the category ${category}, which a wrapper blocks`,
  "companion-required": ({ required }) =>
    required === "all"
      ? "all companions are required, and one is shown"
      : "a companion is required that cannot be shown",
  "no-creative": () => "no creative after the wrappers",
  "no-linear": () => "no linear creative",
  "no-media-file": () => "a video without media files",
  "no-playable-file": () => "no media file that webviews play",
  "no-duration": () => "a video without a valid duration",
  duration: ({ milliseconds }) => `a video of ${milliseconds / 1000} s`,
};

/** A reason in the language of the texts. */
export function vastReasonText(texts: VastReasonTexts, reason: VastReason): string {
  // The table has the text of this very kind; a union of kinds loses which it is.
  const text = texts[reason.kind] as (reason: VastReason) => string;
  return text(reason);
}
