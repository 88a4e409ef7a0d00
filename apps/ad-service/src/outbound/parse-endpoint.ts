import { isIP } from "node:net";
import { hasUserInfo } from "@intermission/ad-core/web-address";
import { OutgoingFailure } from "./outgoing-failure.ts";

export interface Endpoint {
  readonly origin: string;
  readonly isSecure: boolean;
  /** The host name, or the literal address without its brackets. */
  readonly host: string;
  readonly isLiteral: boolean;
  readonly port: number;
  readonly path: string;
}

/** The parts of a URL that a request needs. Throws an OutgoingFailure for a URL that is refused whatever its addresses are. */
export function parseEndpoint(text: string, isPlainHttpAllowed: boolean): Endpoint {
  const url = URL.parse(text);
  if (url === null) throw new OutgoingFailure("blocked-address", "this is no address");
  const isSecure = url.protocol === "https:";
  if (!isSecure && !(url.protocol === "http:" && isPlainHttpAllowed))
    throw new OutgoingFailure("blocked-address", `${url.protocol} is not allowed`);
  if (hasUserInfo(text)) throw new OutgoingFailure("blocked-address", "the address holds a user name or password");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return {
    origin: url.origin,
    isSecure,
    host,
    isLiteral: isIP(host) !== 0,
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
  };
}
