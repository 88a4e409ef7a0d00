import { requestErrorClass } from "@intermission/ad-core/wire-fields";
import { z } from "zod";

const max = z.int();

/**
 * Why a tag, or one of its requests, led to no ad. `detail`, `encoding`, `root` and `version` are quoted from the answer, or from
 * the program that read it.
 */
export const vastReason = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("no-ad") }),
  z.object({ kind: z.literal("too-slow"), milliseconds: z.int() }),
  z.object({ kind: z.literal("too-many-requests"), max }),
  z.object({ kind: z.literal("too-many-redirects"), max }),
  z.object({ kind: z.literal("too-many-wrappers"), max }),
  z.object({ kind: z.literal("redirect-without-address") }),
  z.object({ kind: z.literal("no-answer"), errorClass: requestErrorClass, detail: z.string() }),
  z.object({ kind: z.literal("status"), status: z.int() }),
  z.object({ kind: z.literal("no-content") }),
  z.object({ kind: z.literal("blank") }),
  z.object({ kind: z.literal("too-large"), maxBytes: z.int() }),
  z.object({ kind: z.literal("incomplete"), maxBytes: z.int() }),
  z.object({ kind: z.literal("all-too-large"), maxBytes: z.int() }),
  z.object({ kind: z.literal("address-too-long"), max }),
  z.object({ kind: z.literal("unknown-encoding"), encoding: z.string() }),
  z.object({ kind: z.literal("invalid-encoding"), encoding: z.string() }),
  z.object({ kind: z.literal("json") }),
  z.object({ kind: z.literal("html-page") }),
  z.object({ kind: z.literal("doctype") }),
  z.object({ kind: z.literal("too-many-elements"), max }),
  z.object({ kind: z.literal("too-deep"), max }),
  z.object({ kind: z.literal("too-many-attributes"), max }),
  z.object({ kind: z.literal("malformed"), detail: z.string() }),
  z.object({ kind: z.literal("vmap") }),
  z.object({ kind: z.literal("other-root"), root: z.string() }),
  z.object({ kind: z.literal("version"), version: z.string() }),
  z.object({ kind: z.literal("neither-inline-nor-wrapper") }),
  z.object({ kind: z.literal("wrapper-forbidden") }),
  z.object({ kind: z.literal("wrapper-without-address") }),
  z.object({ kind: z.literal("blocked-category"), category: z.string() }),
  z.object({ kind: z.literal("companion-required"), required: z.enum(["all", "any"]) }),
  z.object({ kind: z.literal("no-creative") }),
  z.object({ kind: z.literal("no-linear") }),
  z.object({ kind: z.literal("no-media-file") }),
  z.object({ kind: z.literal("no-playable-file") }),
  z.object({ kind: z.literal("no-duration") }),
  z.object({ kind: z.literal("duration"), milliseconds: z.number() }),
]);
export type VastReason = z.output<typeof vastReason>;
