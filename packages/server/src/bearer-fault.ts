/** What is wrong with an `Authorization` header that has no token of this server, as far as its form shows. */
export type BearerFault =
  | "missing"
  | "no-scheme"
  | "other-scheme"
  | "no-token"
  | "quoted"
  | "bot-token"
  | "several"
  | "other-form";

/** Never says more of a token than its form. */
export function bearerFaultOf(authorization: string | undefined): BearerFault {
  const [first = "", token, ...others] = (authorization ?? "").trim().split(/ +/);
  if (first === "") return "missing";
  if (token === undefined) return /^bearer$/i.test(first) ? "no-token" : "no-scheme";
  if (!/^bearer$/i.test(first)) return "other-scheme";
  if (others.length > 0) return "several";
  if (/^["'`]|["'`]$/.test(token)) return "quoted";
  return /^[0-9]+:/.test(token) ? "bot-token" : "other-form";
}
