import { randomUUID } from "node:crypto";
import type { StatementLanguage } from "@intermission/operator-api/statement-languages";
import type { RequestedChange } from "./email-change.ts";
import type { LinkMail, SendLink } from "./mail-link.ts";

interface Mail {
  subject: string;
  text: string;
}

interface MailFacts {
  oldEmail: string;
  newEmail: string;
  link: string;
  until: string;
}

interface MailWords {
  confirm: (facts: MailFacts) => Mail;
  /** To an address that another person has. */
  taken: Mail;
  notice: (facts: MailFacts) => Mail;
  /** An owner has changed it. */
  changed: (facts: Pick<MailFacts, "oldEmail" | "newEmail">) => Mail;
}

const mailWords: Readonly<Record<StatementLanguage, MailWords>> = {
  en: {
    confirm: ({ oldEmail, link, until }) => ({
      subject: "Confirm your new e-mail address",
      text: `Somebody who signs in to the console as ${oldEmail} wants to sign in with this address instead. If it was you, confirm it:\n\n${link}\n\nThe link works once, until ${until}. If it was not you, nothing has to be done.\n`,
    }),
    taken: {
      subject: "This address has an account already",
      text: "Somebody wanted to use this address for another account of the console. Your account has it already, so nothing was changed, and nothing has to be done.\n",
    },
    notice: ({ newEmail, link, until }) => ({
      subject: "Your e-mail address is about to change",
      text: `Your account of the console is to have the address ${newEmail}, as soon as it is confirmed there. If you asked for it, nothing has to be done.\n\nIf it was not you, keep this address with this link, which also ends all sessions:\n\n${link}\n\nIt works until ${until}, also after the change. Then change your password, since whoever asked for this knows it, or ask an owner to invite you anew.\n`,
    }),
    changed: ({ newEmail }) => ({
      subject: "Your e-mail address was changed",
      text: `An owner has changed the address of your account of the console: from now on you sign in with ${newEmail}. If you did not expect that, ask an owner.\n`,
    }),
  },
  ru: {
    confirm: ({ oldEmail, link, until }) => ({
      subject: "Подтвердите новый адрес почты",
      text: `Тот, кто входит в консоль как ${oldEmail}, хочет входить с этим адресом. Если это вы, подтвердите:\n\n${link}\n\nСсылка действует один раз, до ${until}. Если это не вы, ничего делать не нужно.\n`,
    }),
    taken: {
      subject: "У этого адреса уже есть учётная запись",
      text: "Кто-то хотел указать этот адрес для другой учётной записи консоли. Он уже принадлежит вашей, поэтому ничего не изменилось, и делать ничего не нужно.\n",
    },
    notice: ({ newEmail, link, until }) => ({
      subject: "Адрес вашей почты скоро изменится",
      text: `У вашей учётной записи консоли будет адрес ${newEmail}, как только его там подтвердят. Если об этом просили вы, ничего делать не нужно.\n\nЕсли это не вы, оставьте нынешний адрес по этой ссылке; все сеансы при этом завершатся:\n\n${link}\n\nОна действует до ${until}, и после смены адреса тоже. Затем смените пароль, потому что его знает тот, кто просил, или попросите владельца пригласить вас заново.\n`,
    }),
    changed: ({ newEmail }) => ({
      subject: "Адрес вашей почты изменён",
      text: `Владелец изменил адрес вашей учётной записи консоли: теперь вы входите с адресом ${newEmail}. Если вы этого не ждали, спросите владельца.\n`,
    }),
  },
};

/**
 * The notice to the present address goes first: nobody can confirm a change of which its holder was not told. Whether the mail
 * server has taken both.
 */
export async function mailEmailChange(
  send: NonNullable<SendLink>,
  { consoleUrl, change, log }: { consoleUrl: string; change: RequestedChange; log: MailLog },
): Promise<boolean> {
  const { oldEmail, newEmail, isTaken } = change;
  const words = mailWords[change.language];
  // In the fragment, so that they are in no server's log.
  const undo = { link: `${consoleUrl}/email#undo-${change.undoToken}`, until: shownMoment(change.undoExpiresAt) };
  const confirm = { link: `${consoleUrl}/email#${change.token}`, until: shownMoment(change.expiresAt) };
  const notice = words.notice({ oldEmail, newEmail, ...undo });
  const toNew = isTaken ? words.taken : words.confirm({ oldEmail, newEmail, ...confirm });
  return (await isSent(send, { to: oldEmail, ...notice }, log)) && isSent(send, { to: newEmail, ...toNew }, log);
}

/** Tells a person by the former address that an owner has changed it. */
export async function mailChangedEmail(
  send: SendLink,
  { oldEmail, newEmail, language, log }: ChangedEmail,
): Promise<void> {
  if (send !== undefined)
    await isSent(send, { to: oldEmail, ...mailWords[language].changed({ oldEmail, newEmail }) }, log);
}

interface ChangedEmail {
  oldEmail: string;
  newEmail: string;
  language: StatementLanguage;
  log: MailLog;
}

interface MailLog {
  warn(facts: object, message: string): void;
}

async function isSent(send: NonNullable<SendLink>, mail: Omit<LinkMail, "id">, log: MailLog): Promise<boolean> {
  const sent = await send({ id: `email-${randomUUID()}`, ...mail });
  // Neither the address nor the link.
  if (sent.outcome === "failed") log.warn({ error: sent.error }, "a mail about a change of an e-mail address failed");
  return sent.outcome === "sent";
}

function shownMoment(moment: Date): string {
  return `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
