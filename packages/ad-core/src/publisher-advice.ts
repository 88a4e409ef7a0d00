import type { ReceiverWarning } from "./client-words.ts";
import type { TlsFault } from "./tls-fault.ts";
import type { RequestErrorClass } from "./wire-fields.ts";

// What to check, in the words of a publisher, who has a token and no commands. The operator's are in another file, because
// the console needs only these.

export const byStatus = {
  "400": "The receiver did not understand the request: it must accept JSON by POST and ignore unknown fields.",
  "401":
    "The receiver refused the signature. Give it this API token, mount it before any body parser, since it needs the raw bytes, and compare its clock with this machine's (NTP): its log may say which.",
  "403":
    "Something rejects the ad service's requests: a signature check, or a firewall or bot protection in front of the receiver. Let POST requests to this path through.",
  "404": "Nothing is served at this path: compare the webhook address with your route.",
  "405": "The route does not accept POST: compare the webhook address with your route.",
  "410": "The receiver reports that it is gone for good; after an hour of that it is disabled. Check its route.",
  "411": "The receiver, or a proxy in front of it, wants another kind of request; Content-Length is sent.",
  "413": "A body limit in front of the receiver is too small: allow 64 kB.",
  "415": "The receiver must accept Content-Type: application/json.",
  "429":
    "The receiver gets too many requests: raise its rate limit, or ask the operator to send fewer at the same time.",
  "502": "The proxy in front of the receiver cannot reach it: start the receiver, and look at the proxy's log.",
  "503": "The receiver, or the proxy in front of it, is overloaded or in maintenance: look at its log.",
  "504":
    "The proxy in front of the receiver got no answer in time: answer first, and do slow work afterwards; look at the log.",
} satisfies Record<number, string>;

/** Answers of Cloudflare in place of the server behind it. */
export const byCloudflare = {
  "cloudflare-no-answer":
    "Cloudflare could not reach your server behind it, or got no answer: start the receiver, and let Cloudflare's addresses through its firewall.",
  "cloudflare-certificate":
    "Cloudflare accepts no certificate of your server behind it: install a valid one there, or set the zone's mode of encryption to what the server has.",
  "cloudflare-no-way":
    "Cloudflare has no way to your server: start its tunnel (cloudflared), and check its DNS record.",
} satisfies Record<string, string>;

/** In place of the receiver, something in front of it answers. */
export const byIntermediary = {
  "login-wanted":
    "The receiver, or the proxy in front of it, asks for a login (its WWW-Authenticate), which webhooks do not have: exempt the webhook's path. The signature protects it.",
  "ngrok-offline":
    "The ngrok tunnel is offline: start ngrok, compare the webhook address with the one that it prints, and for good use a server with a fixed address.",
  "ngrok-without-upstream":
    "The ngrok tunnel runs, and nothing answers at the port that it forwards to: start the receiver, and compare its port with that of the command (ngrok http <port>).",
  "ngrok-refused":
    "ngrok answers in place of the receiver, mostly because of a limit or a rule of its account: look its error code up at ngrok.com/docs/errors.",
  "cloudflare-tunnel-down":
    "The Cloudflare Tunnel is not connected: start cloudflared, and compare the webhook address with its host name. A quick tunnel (trycloudflare.com) gets another one at each start.",
  "cloudflare-without-upstream":
    "Cloudflare, or cloudflared of your tunnel, cannot reach the receiver: start it, and compare its port with the service of the tunnel (cloudflared tunnel --url http://localhost:<port>).",
  "cloudflare-name": "Cloudflare cannot resolve the name of your server behind it: correct the DNS record of the zone.",
  "cloudflare-blocks":
    "Cloudflare blocks the ad service's requests, by a rule or as a bot: add a rule of its firewall that skips the webhook's path.",
  "tunnel-down":
    "The tunnel is not connected: start its program, and compare the webhook address with the one it prints.",
} satisfies Record<string, string>;

/** A receiver of this project that was not set up. */
export const notConfigured = {
  "not-configured": "The receiver is not set up: give it what its own words name, and start it again.",
} satisfies Record<string, string>;

export const byTlsFault = {
  "without-tls":
    "The port does not use TLS, and the webhook address begins with https://: it must be the address of the proxy that has the certificate. Check: curl -v https://<host>/",
  "tls-self-signed":
    "The certificate is self-signed: get one of a public authority, such as Let's Encrypt. Its issuer: openssl s_client -connect <host>:443 -servername <host> </dev/null | openssl x509 -noout -subject -issuer",
  "tls-private-authority":
    "The certificate comes from a private authority, or from a firewall that inspects TLS: get one of a public authority. The chain: openssl s_client -connect <host>:443 -servername <host> -showcerts </dev/null",
  "tls-incomplete-chain":
    "The server sends its certificate without the intermediate ones: set the full chain (fullchain.pem, not cert.pem). Browsers hide this; the chain: openssl s_client -connect <host>:443 -servername <host> -showcerts </dev/null",
  "tls-wrong-name":
    "The certificate is for another name than that of the webhook address: get one for this host, or correct the address. Its names: openssl s_client -connect <host>:443 -servername <host> </dev/null | openssl x509 -noout -ext subjectAltName",
  "tls-expired":
    "The certificate has expired: renew it, and reload the server that uses it. Its dates: openssl s_client -connect <host>:443 -servername <host> </dev/null | openssl x509 -noout -dates",
  "tls-not-yet-valid":
    "The certificate is not yet valid: wait until it is, or check the clock of the machine that made it (NTP). Its dates: openssl s_client -connect <host>:443 -servername <host> </dev/null | openssl x509 -noout -dates",
  "tls-revoked":
    "The certificate was revoked: get a new one. Its number: openssl s_client -connect <host>:443 -servername <host> </dev/null | openssl x509 -noout -serial -issuer",
  "tls-version":
    "The server speaks only old versions of TLS: allow 1.2 and 1.3 in its settings. Check: openssl s_client -connect <host>:443 -servername <host> -tls1_2 </dev/null",
  "tls-unknown-name":
    "The server does not know this host name (SNI): add the host to the proxy, or correct the address. Check: openssl s_client -connect <host>:443 -servername <host> </dev/null",
  "tls-client-certificate":
    "The server asks for a client certificate, which webhooks do not have: exempt the webhook's path. Check: curl -v https://<host>/",
} satisfies Record<TlsFault, string>;

export const byClass = {
  dns: "The host name of the webhook address does not resolve: check its spelling and its DNS records.",
  refused: "No process listens at the webhook address, or a firewall refuses it: start the receiver, check the port.",
  reset: "The receiver closed the connection early: look at its log, and at the proxy or firewall in front of it.",
  tls: "The certificate is invalid, is for another host, or is sent without its intermediate certificates: renew it.",
  "timeout-connect": "The host does not accept the connection: check the firewall and the port.",
  "timeout-total": "The receiver takes too long: store the event, answer 2xx within 15 s, and do slow work afterwards.",
  "blocked-address":
    "The address is not public. The operator of a service of your own can set WEBHOOK_ALLOWED_NETWORKS.",
  redirect:
    "The address redirects, and webhooks follow no redirect: the operator sets the final address. If that is a page to sign in, exempt the webhook's path.",
  protocol: "The answer is not valid HTTP/1.1: check that a web server listens at this port, and whether it uses TLS.",
  "too-large": "The headers of the answer are too large: answer with a plain 200.",
} satisfies Record<RequestErrorClass, string>;

/** Of answers of 2xx. */
export const byWarning = {
  "html-answer":
    "The answer is a web page: the address probably leads to a site or a catch-all route instead of your receiver, and no reward is paid. Compare it with your route; a receiver answers with an empty 200.",
  "negative-answer":
    "The answer is 2xx, and its words say that it failed: the event counts as delivered and is not sent again. Answer 401 to a wrong signature, and 500 where the event could not be stored.",
  "wrong-signature-accepted":
    "The address also answers 2xx to an event with a wrong signature: it verifies nothing, so that anyone can make rewards, or it is not your receiver. Verify X-Signature over the raw bytes, and answer 401.",
} satisfies Record<ReceiverWarning, string>;

export const others = {
  unknown: "The outcome is unknown, because the ad service failed meanwhile. Look whether your log has the event.",
  "no-answer": "There was no valid answer: look at the receiver's log.",
  "not-modified": "The receiver answers 304, which is for requests that ask whether something changed: answer 2xx.",
  "failed-status": "The receiver failed: look at its log.",
  "refused-status": "The receiver refused it: look at its log.",
} satisfies Record<string, string>;

export const publisherAdvice = {
  ...byStatus,
  ...byCloudflare,
  ...byIntermediary,
  ...notConfigured,
  ...byTlsFault,
  ...byClass,
  ...byWarning,
  ...others,
};

/** What is wrong with an answer: its status, why there is none, who gave it, or what it says. */
export type AdviceCode = Extract<keyof typeof publisherAdvice, string> | `${keyof typeof byStatus}`;
