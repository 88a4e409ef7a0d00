import { z } from "zod";

// Words of the client API, in a file without its schemas: the console's first screen has them, too.

/** `once`: a code earns one event, the view or the click that comes first; `each`: one view and one click. */
export const payPerCode = z.enum(["once", "each"]);
export type PayPerCode = z.infer<typeof payPerCode>;

/** Only an active endpoint receives events; a pending one must answer a test webhook with 2xx first. */
export const endpointState = z.enum(["pending", "active", "disabled"]);
export type EndpointState = z.output<typeof endpointState>;

/** What is wrong with a receiver that answers 2xx: events count as delivered, and probably nothing records them. */
export const receiverWarnings = [
  /** A web page: a catch-all route, a page to sign in, the page of a tunnel. */
  "html-answer",
  /** JSON or words that say that it failed. */
  "negative-answer",
  /** It also answers 2xx to a wrong signature. */
  "wrong-signature-accepted",
] as const;
export type ReceiverWarning = (typeof receiverWarnings)[number];
