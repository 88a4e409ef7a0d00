import type { ErrorClass } from "../outbound/outgoing-failure.ts";

const byStatus: Record<number, string> = {
  400: "it did not understand the request: it must take JSON by POST, with fields that it does not know ignored",
  401: "it did not take the signature: does it verify the raw bytes, with the bot's present token? See: bots show",
  403: "something refuses us: a signature check, or a firewall in front of it that knows neither our address nor our user agent",
  404: "nothing is at this path: is the address right, and is the newest version deployed? See: endpoints show",
  405: "it takes no POST at this path: is the address right?",
  410: "it says that it is gone for good; after an hour of that it is disabled. Is the address right?",
  411: "it takes no request of this kind; we send Content-Length",
  413: "it refuses bodies of this size; ours have at most 20 kB",
  415: "it must take Content-Type: application/json",
  429: "it is asked too often; lower what is under way at once with: endpoints set --max-in-flight 1",
  502: "the proxy in front of it cannot reach it: is the publisher's server running?",
  503: "it is overloaded or in maintenance",
  504: "the proxy in front of it waits in vain for it",
};

const byClass: Record<ErrorClass, string> = {
  dns: "its name cannot be resolved: is it spelled right, and does it stand in public DNS?",
  refused: "nobody listens at its address and port: is its server running, and the port open?",
  reset: "it broke the connection off: look at its log, and at the proxy or firewall in front of it",
  tls: "no trusted TLS connection: is its certificate valid, for this name, and sent with its intermediate certificates?",
  "timeout-connect": "no connection within 5 seconds: a firewall that drops packets, or a server that is gone",
  "timeout-total":
    "no whole answer within 15 seconds: it should store the event, answer 2xx at once, and work afterwards",
  "blocked-address":
    "its name leads to an address that is not public; should that be so, allow it in WEBHOOK_ALLOWED_NETWORKS",
  redirect: "redirects are not followed: give the address that it leads to, with: bots update --webhook-url",
  protocol: "what came back is not proper HTTP/1.1: is there a web server at this port, and does it speak TLS?",
  "too-large": "its headers are too large: it should answer with a plain 200",
};

/** What to look at when an endpoint answers like this, for somebody who is tired; undefined: all is well. */
export function adviseOnAnswer(answer: { status: number | null; errorClass: string | null }): string | undefined {
  const { status, errorClass } = answer;
  if (errorClass !== null) return isErrorClass(errorClass) ? byClass[errorClass] : "look at its log";
  if (status === null) return "nobody knows what became of it: this service failed meanwhile; see its own log";
  if (status >= 200 && status <= 299) return undefined;
  return byStatus[status] ?? (status >= 500 ? "it failed: look at its own log" : "it refused: look at its own log");
}

function isErrorClass(text: string): text is ErrorClass {
  return Object.hasOwn(byClass, text);
}
