import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";

/** Why a request has no valid answer. Apart from the other words, since publishers' first screen shows these alone. */
export const errorClassesInEnglish = {
  dns: "name not found",
  refused: "connection refused",
  reset: "connection broken",
  tls: "no trusted TLS",
  "timeout-connect": "no connection in time",
  "timeout-total": "no answer in time",
  "blocked-address": "address not public",
  redirect: "redirect",
  protocol: "no HTTP",
  "too-large": "answer too large",
} satisfies Record<RequestErrorClass, string>;
