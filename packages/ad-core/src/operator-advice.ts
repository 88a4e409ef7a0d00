import type { AdviceCode } from "./publisher-advice.ts";

/** What to check, in the words of an operator, who has commands. */
export const operatorAdvice: Readonly<Record<AdviceCode, string>> = {
  "400": "it did not understand the request: it must accept JSON by POST and ignore unknown fields",
  "401":
    "it rejected the signature: does it verify the raw bytes, with the bot's current token, and is its clock right? See: bots show",
  "403":
    "something rejects our requests: a signature check, or a firewall in front of it that blocks our address or our user agent",
  "404": "there is nothing at this path: is the address right, and is the newest version deployed? See: endpoints show",
  "405": "it does not accept POST at this path: is the address right?",
  "410": "it reports that it is gone for good; after an hour of that it is disabled. Is the address right?",
  "411": "it does not accept this kind of request; we send Content-Length",
  "413": "it rejects bodies of this size; ours have at most 20 kB",
  "415": "it must accept Content-Type: application/json",
  "429": "it gets too many requests; lower the number in flight with: endpoints set --max-in-flight 1",
  "502": "the proxy in front of it cannot reach it: is the publisher's server running?",
  "503": "it is overloaded or in maintenance",
  "504": "the proxy in front of it got no answer from it in time",
  "cloudflare-no-answer":
    "Cloudflare could not reach the publisher's server behind it, or got no answer: is it running?",
  "cloudflare-certificate": "Cloudflare accepts no certificate of the publisher's server behind it",
  "cloudflare-no-way":
    "Cloudflare has no way to the publisher's server: its tunnel is not connected, or its name does not resolve",
  "login-wanted":
    "something in front of it asks for a login, and webhooks have none: the webhook's path must be exempt from it",
  "ngrok-offline": "its ngrok tunnel is offline: is ngrok running, and is this still its address?",
  "ngrok-without-upstream":
    "its ngrok tunnel runs, and no server listens behind it: is the publisher's server running?",
  "ngrok-refused": "ngrok refuses the request, as its error code in the answer says: see ngrok.com/docs/errors",
  "cloudflare-tunnel-down":
    "its Cloudflare Tunnel is not connected: is cloudflared running, and is this still its address?",
  "cloudflare-without-upstream":
    "Cloudflare, or its tunnel, cannot reach the publisher's server behind it: is it running?",
  "cloudflare-name": "Cloudflare cannot resolve the name of the publisher's server behind it",
  "cloudflare-blocks":
    "Cloudflare blocks our requests, by a rule or as a bot: the webhook's path must be exempt from it",
  "tunnel-down": "its tunnel is not connected: is its program running, and is this still its address?",
  "not-configured": "it is not set up: its own words say what it lacks",
  "without-tls":
    "its port does not use TLS, and the address begins with https: is it the port of the proxy with the certificate?",
  "tls-self-signed": "its certificate is self-signed: it needs one of a public authority, such as Let's Encrypt",
  "tls-private-authority":
    "its certificate comes from a private authority, or from a proxy that inspects TLS: it needs one of a public authority",
  "tls-incomplete-chain":
    "it sends its certificate without the intermediate ones: it must send the full chain (fullchain.pem)",
  "tls-wrong-name": "its certificate is for another name: is the address right, and does the proxy know this host?",
  "tls-expired": "its certificate has expired: it must be renewed",
  "tls-not-yet-valid": "its certificate is not yet valid: is this machine's clock right (NTP)?",
  "tls-revoked": "its certificate was revoked: it needs a new one",
  "tls-version": "it has no version of TLS in common with this service, which uses 1.2 and 1.3",
  "tls-unknown-name":
    "its server does not know this host name (SNI): is the address right, and does the proxy know this host?",
  "tls-client-certificate":
    "it asks for a client certificate, which webhooks do not have: the webhook's path must be exempt from it",
  dns: "its name cannot be resolved: is it spelled right, and is it in public DNS?",
  refused: "nothing listens at its address and port: is its server running, and the port open?",
  reset: "it closed the connection early: look at its log, and at the proxy or firewall in front of it",
  tls: "no trusted TLS connection: is its certificate valid, for this name, and sent with its intermediate certificates?",
  "timeout-connect": "no connection within 5 seconds: a firewall drops packets, or the server is gone",
  "timeout-total":
    "no complete answer within 15 seconds: it should store the event, answer 2xx immediately, and work afterwards",
  "blocked-address":
    "its name resolves to an address that is not public; if that is intended, allow it in WEBHOOK_ALLOWED_NETWORKS",
  redirect:
    "redirects are not followed: set the address that it redirects to, with: bots update --webhook-url. If that is a page to sign in, exempt the webhook's path",
  protocol: "its answer is not valid HTTP/1.1: is there a web server at this port, and does it use TLS?",
  "too-large": "its headers are too large: it should answer with a plain 200",
  "html-answer":
    "it answers with a web page: probably the address leads to a site or a catch-all route, and no reward is paid",
  "negative-answer": "it answers 2xx, and its words say that it failed: events count as delivered all the same",
  "wrong-signature-accepted":
    "it also answers 2xx to an event with a wrong signature: it verifies nothing, so that anyone can make rewards, or nothing processes the events there",
  unknown: "the outcome is unknown: this service failed meanwhile; see its own log",
  "no-answer": "look at its log",
  "not-modified": "it answers 304, which is for requests that ask whether something changed: it should answer 2xx",
  "failed-status": "it failed: look at its own log",
  "refused-status": "it refused: look at its own log",
};
