import { describeRefusal, refusalOfAnswer } from "./webhook-refusal.ts";

/** Why a request to another server has no valid answer. Stored in the log of attempts, so these values must not change. */
export type RequestErrorClass =
  | "dns"
  | "refused"
  | "reset"
  | "tls"
  | "timeout-connect"
  | "timeout-total"
  | "blocked-address"
  | "redirect"
  | "protocol"
  | "too-large";

/** Who reads the advice: a publisher has a token, an operator has commands. */
export type Adviser = "operator" | "publisher";

type Advice = Readonly<Record<Adviser, string>>;

const byStatus: Readonly<Record<number, Advice>> = {
  400: {
    operator: "it did not understand the request: it must accept JSON by POST and ignore unknown fields",
    publisher: "The receiver did not understand the request: it must accept JSON by POST and ignore unknown fields.",
  },
  401: {
    operator:
      "it rejected the signature: does it verify the raw bytes, with the bot's current token, and is its clock right? See: bots show",
    publisher:
      "The receiver refused the signature. Give it this API token, mount it before any body parser, since it needs the raw bytes, and compare its clock with this machine's (NTP): its log may say which.",
  },
  403: {
    operator:
      "something rejects our requests: a signature check, or a firewall in front of it that blocks our address or our user agent",
    publisher:
      "Something rejects the ad service's requests: a signature check, or a firewall or bot protection in front of the receiver. Let POST requests to this path through.",
  },
  404: {
    operator:
      "there is nothing at this path: is the address right, and is the newest version deployed? See: endpoints show",
    publisher: "Nothing is served at this path: compare the webhook address with your route.",
  },
  405: {
    operator: "it does not accept POST at this path: is the address right?",
    publisher: "The route does not accept POST: compare the webhook address with your route.",
  },
  410: {
    operator: "it reports that it is gone for good; after an hour of that it is disabled. Is the address right?",
    publisher: "The receiver reports that it is gone for good; after an hour of that it is disabled. Check its route.",
  },
  411: {
    operator: "it does not accept this kind of request; we send Content-Length",
    publisher: "The receiver, or a proxy in front of it, wants another kind of request; Content-Length is sent.",
  },
  413: {
    operator: "it rejects bodies of this size; ours have at most 20 kB",
    publisher: "A body limit in front of the receiver is too small: allow 64 kB.",
  },
  415: {
    operator: "it must accept Content-Type: application/json",
    publisher: "The receiver must accept Content-Type: application/json.",
  },
  429: {
    operator: "it gets too many requests; lower the number in flight with: endpoints set --max-in-flight 1",
    publisher:
      "The receiver gets too many requests: raise its rate limit, or ask the operator to send fewer at the same time.",
  },
  502: {
    operator: "the proxy in front of it cannot reach it: is the publisher's server running?",
    publisher: "The proxy in front of the receiver cannot reach it: start the receiver, and look at the proxy's log.",
  },
  503: {
    operator: "it is overloaded or in maintenance",
    publisher: "The receiver, or the proxy in front of it, is overloaded or in maintenance: look at its log.",
  },
  504: {
    operator: "the proxy in front of it got no answer from it in time",
    publisher:
      "The proxy in front of the receiver got no answer in time: answer first, and do slow work afterwards; look at the log.",
  },
};

/** Answers of Cloudflare in place of the server behind it. */
const byCloudflare: Readonly<Record<number, Advice>> = {
  ...Object.fromEntries(
    [520, 521, 522, 523, 524].map((status) => [
      status,
      {
        operator: `Cloudflare could not reach the publisher's server behind it (${status}), or got no answer: is it running?`,
        publisher: `Cloudflare could not reach your server behind it (${status}), or got no answer: start the receiver, and let Cloudflare's addresses through its firewall.`,
      },
    ]),
  ),
  ...Object.fromEntries(
    [525, 526].map((status) => [
      status,
      {
        operator: `Cloudflare accepts no certificate of the publisher's server behind it (${status})`,
        publisher: `Cloudflare accepts no certificate of your server behind it (${status}): install a valid one there, or set the zone's mode of encryption to what the server has.`,
      },
    ]),
  ),
  530: {
    operator:
      "Cloudflare has no way to the publisher's server (530): its tunnel is not connected, or its name does not resolve",
    publisher: "Cloudflare has no way to your server (530): start its tunnel (cloudflared), and check its DNS record.",
  },
};

const byClass: Readonly<Record<RequestErrorClass, Advice>> = {
  dns: {
    operator: "its name cannot be resolved: is it spelled right, and is it in public DNS?",
    publisher: "The host name of the webhook address does not resolve: check its spelling and its DNS records.",
  },
  refused: {
    operator: "nothing listens at its address and port: is its server running, and the port open?",
    publisher:
      "No process listens at the webhook address, or a firewall refuses it: start the receiver, check the port.",
  },
  reset: {
    operator: "it closed the connection early: look at its log, and at the proxy or firewall in front of it",
    publisher:
      "The receiver closed the connection early: look at its log, and at the proxy or firewall in front of it.",
  },
  tls: {
    operator:
      "no trusted TLS connection: is its certificate valid, for this name, and sent with its intermediate certificates?",
    publisher:
      "The certificate is invalid, is for another host, or is sent without its intermediate certificates: renew it.",
  },
  "timeout-connect": {
    operator: "no connection within 5 seconds: a firewall drops packets, or the server is gone",
    publisher: "The host does not accept the connection: check the firewall and the port.",
  },
  "timeout-total": {
    operator:
      "no complete answer within 15 seconds: it should store the event, answer 2xx immediately, and work afterwards",
    publisher: "The receiver takes too long: store the event, answer 2xx within 15 s, and do slow work afterwards.",
  },
  "blocked-address": {
    operator:
      "its name resolves to an address that is not public; if that is intended, allow it in WEBHOOK_ALLOWED_NETWORKS",
    publisher: "The address is not public. The operator of a service of your own can set WEBHOOK_ALLOWED_NETWORKS.",
  },
  redirect: {
    operator:
      "redirects are not followed: set the address that it redirects to, with: bots update --webhook-url. If that is a page to sign in, exempt the webhook's path",
    publisher:
      "The address redirects, and webhooks follow no redirect: the operator sets the final address. If that is a page to sign in, exempt the webhook's path.",
  },
  protocol: {
    operator: "its answer is not valid HTTP/1.1: is there a web server at this port, and does it use TLS?",
    publisher:
      "The answer is not valid HTTP/1.1: check that a web server listens at this port, and whether it uses TLS.",
  },
  "too-large": {
    operator: "its headers are too large: it should answer with a plain 200",
    publisher: "The headers of the answer are too large: answer with a plain 200.",
  },
};

const others = {
  unknown: {
    operator: "the outcome is unknown: this service failed meanwhile; see its own log",
    publisher: "The outcome is unknown, because the ad service failed meanwhile. Look whether your log has the event.",
  },
  noAnswer: { operator: "look at its log", publisher: "There was no valid answer: look at the receiver's log." },
  notModified: {
    operator: "it answers 304, which is for requests that ask whether something changed: it should answer 2xx",
    publisher: "The receiver answers 304, which is for requests that ask whether something changed: answer 2xx.",
  },
  failed: { operator: "it failed: look at its own log", publisher: "The receiver failed: look at its log." },
  refused: { operator: "it refused: look at its own log", publisher: "The receiver refused it: look at its log." },
} satisfies Record<string, Advice>;

/** An endpoint's answer to one attempt, or why there is none. */
export interface AttemptAnswer {
  readonly status: number | null;
  readonly errorClass: string | null;
  /** The beginning of the answer. */
  readonly text: string | null;
}

/** What to check when an endpoint answers like this, in plain words; undefined when all is well. */
export function adviseOnAnswer({ status, errorClass, text }: AttemptAnswer, reader: Adviser): string | undefined {
  // Not a redirect, though of their class: nothing of ours is conditional.
  if (status === 304) return others.notModified[reader];
  if (errorClass !== null) return (isErrorClass(errorClass) ? byClass[errorClass] : others.noAnswer)[reader];
  if (status === null) return others.unknown[reader];
  if (status >= 200 && status <= 299) return undefined;
  const refusal = status === 401 && text !== null ? refusalOfAnswer(text) : undefined;
  if (refusal) {
    return reader === "operator"
      ? `it rejected the signature: ${describeRefusal(refusal, "its machine")}`
      : `The receiver answers: ${describeRefusal(refusal, "the receiver's machine")}.`;
  }
  return (byStatus[status] ?? byCloudflare[status] ?? (status >= 500 ? others.failed : others.refused))[reader];
}

function isErrorClass(text: string): text is RequestErrorClass {
  return Object.hasOwn(byClass, text);
}
