import { z } from "zod";

/** SMTP_URL. */
export const mailServer = z
  .string()
  .refine(
    isMailServer,
    "must be smtp://user:password@host:port, or smtps://; in user and password, special characters are percent-encoded: @ as %40, # as %23, % as %25",
  );

function isMailServer(text: string): boolean {
  if (!/^smtps?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname, search, hash } = new URL(text);
  // A # or a ? that ends the password is read as what follows an address.
  return hostname !== "" && hash === "" && !search.includes("@") && [username, password].every(isPercentEncoded);
}

function isPercentEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}
