import { isWithoutTls } from "./openssl-reason.ts";
import { describeRefusal, refusalOfAnswer } from "./webhook-refusal.ts";
import type { RequestErrorClass } from "./wire-fields.ts";

/** Who reads the advice: a publisher has a token, an operator has commands. */
export type Adviser = "operator" | "publisher";

type Advice = Readonly<Record<Adviser, string>>;

const byStatus = {
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
} satisfies Record<number, Advice>;

/** Answers of Cloudflare in place of the server behind it. */
const byCloudflare = {
  "cloudflare-no-answer": {
    operator: "Cloudflare could not reach the publisher's server behind it, or got no answer: is it running?",
    publisher:
      "Cloudflare could not reach your server behind it, or got no answer: start the receiver, and let Cloudflare's addresses through its firewall.",
  },
  "cloudflare-certificate": {
    operator: "Cloudflare accepts no certificate of the publisher's server behind it",
    publisher:
      "Cloudflare accepts no certificate of your server behind it: install a valid one there, or set the zone's mode of encryption to what the server has.",
  },
  "cloudflare-no-way": {
    operator:
      "Cloudflare has no way to the publisher's server: its tunnel is not connected, or its name does not resolve",
    publisher: "Cloudflare has no way to your server: start its tunnel (cloudflared), and check its DNS record.",
  },
} satisfies Record<string, Advice>;

const cloudflareStatuses: Readonly<Record<number, keyof typeof byCloudflare>> = {
  520: "cloudflare-no-answer",
  521: "cloudflare-no-answer",
  522: "cloudflare-no-answer",
  523: "cloudflare-no-answer",
  524: "cloudflare-no-answer",
  525: "cloudflare-certificate",
  526: "cloudflare-certificate",
  530: "cloudflare-no-way",
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
  "no-answer": { operator: "look at its log", publisher: "There was no valid answer: look at the receiver's log." },
  "without-tls": {
    operator:
      "its port does not use TLS, and the address begins with https: is it the port of the proxy with the certificate?",
    publisher:
      "The port does not use TLS, and the webhook address begins with https://: it must be the address of the proxy that has the certificate.",
  },
  "not-modified": {
    operator: "it answers 304, which is for requests that ask whether something changed: it should answer 2xx",
    publisher: "The receiver answers 304, which is for requests that ask whether something changed: answer 2xx.",
  },
  "failed-status": { operator: "it failed: look at its own log", publisher: "The receiver failed: look at its log." },
  "refused-status": {
    operator: "it refused: look at its own log",
    publisher: "The receiver refused it: look at its log.",
  },
} satisfies Record<string, Advice>;

/** An endpoint's answer to one attempt, or why there is none. */
export interface AttemptAnswer {
  readonly status: number | null;
  readonly errorClass: string | null;
  /** The beginning of the answer. */
  readonly text: string | null;
}

/** What is wrong with an answer: its status, why there is none, or which kind of the two it is. */
export type AdviceCode =
  | `${keyof typeof byStatus}`
  | keyof typeof byCloudflare
  | RequestErrorClass
  | keyof typeof others;

const advices: Readonly<Record<AdviceCode, Advice>> = { ...byStatus, ...byCloudflare, ...byClass, ...others };

/** Undefined when all is well. */
export function adviceCodeOf({ status, errorClass, text }: AttemptAnswer): AdviceCode | undefined {
  // Not a redirect, though of their class: nothing of ours is conditional.
  if (status === 304) return "not-modified";
  if (errorClass === "tls" && text !== null && isWithoutTls(text)) return "without-tls";
  if (errorClass !== null) return isErrorClass(errorClass) ? errorClass : "no-answer";
  if (status === null) return "unknown";
  if (status >= 200 && status <= 299) return undefined;
  const code = String(status);
  if (isAdvisedStatus(code)) return code;
  const ofCloudflare = cloudflareStatuses[status];
  if (ofCloudflare !== undefined) return ofCloudflare;
  return status >= 500 ? "failed-status" : "refused-status";
}

/** What to check when an endpoint answers like this, in plain words; undefined when all is well. */
export function adviseOnAnswer(answer: AttemptAnswer, reader: Adviser): string | undefined {
  const code = adviceCodeOf(answer);
  if (code === undefined) return undefined;
  const refusal = code === "401" && answer.text !== null ? refusalOfAnswer(answer.text) : undefined;
  if (refusal) {
    return reader === "operator"
      ? `it rejected the signature: ${describeRefusal(refusal, "its machine")}`
      : `The receiver answers: ${describeRefusal(refusal, "the receiver's machine")}.`;
  }
  return advices[code][reader];
}

function isAdvisedStatus(code: string): code is `${keyof typeof byStatus}` {
  return Object.hasOwn(byStatus, code);
}

/** One of `RequestErrorClass`: logs may hold those of other versions. */
export function isErrorClass(text: string): text is RequestErrorClass {
  return Object.hasOwn(byClass, text);
}
