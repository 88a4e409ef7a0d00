import { randomUUID } from "node:crypto";
import type { SentNotice } from "../notices/messages.ts";

export interface LinkMail {
  /** The part of its Message-ID before the @. */
  id: string;
  to: string;
  subject: string;
  text: string;
}

/** Sends an e-mail; undefined: no mail server is set. */
export type SendLink = ((mail: LinkMail) => Promise<SentNotice>) | undefined;

interface MailedLink {
  email: string;
  link: string;
  expiresAt: Date;
  /** A person who has an account is invited anew: what opened it before is void. */
  isReset: boolean;
}

/** Sends the link of an invitation to the invited person. Whether the mail server has taken it; why not stands in the log. */
export async function mailLink(
  send: SendLink,
  { email, link, expiresAt, isReset }: MailedLink,
  log: { warn(facts: object, message: string): void },
): Promise<boolean> {
  if (send === undefined) return false;
  const until = `${expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const text = isReset
    ? "Your way to sign in was reset: choose a new one with this link. What opened your account before is void."
    : "You are invited to the console. This link opens the invitation:";
  const sent = await send({
    id: `link-${randomUUID()}`,
    to: email,
    subject: isReset ? "Choose a new way to sign in" : "Your invitation to the console",
    text: `${text}\n\n${link}\n\nIt works once, until ${until}. If you expected no such mail, nothing has to be done.\n`,
  });
  // Neither the address nor the link.
  if (sent.outcome === "failed")
    log.warn({ error: sent.error }, "an invitation could not be mailed; its link is in the answer");
  return sent.outcome === "sent";
}
