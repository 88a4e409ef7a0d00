import { z } from "zod";

/** SMTP_URL. */
export const mailServer = z
  .string()
  .refine(
    isMailServer,
    "must be smtp://user:password@host:port, or smtps://; in user and password, special characters are percent-encoded: @ as %40, / as %2F, # as %23, % as %25",
  );

function isMailServer(text: string): boolean {
  if (!/^smtps?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname, pathname, search, hash } = new URL(text);
  // A /, ? or # in a password that is not encoded ends it, and what follows is read as a path, a query or a fragment.
  const isWhole = /^\/?$/.test(pathname) && !search.includes("@") && hash === "";
  return hostname !== "" && isWhole && [username, password].every(isPercentEncoded);
}

function isPercentEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}
