import type { Role } from "@intermission/operator-api/access";
import {
  type AlertCause,
  type AlertChannel,
  type AlertSettings,
  alertCauses,
  alertChannels,
  rolesOfCause,
} from "@intermission/operator-api/alerts";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import type { NoticeSettings } from "../notices/messages.ts";

type Stored = Pick<AlertSettings, "language" | "telegramChatId"> & { muted: string[] };

const read = statement<Stored>(
  "alerts.read-settings",
  `select language, telegram_chat_id as "telegramChatId", muted from alert_settings where person_id = $1`,
);
const write = statement<never>(
  "alerts.write-settings",
  `insert into alert_settings (person_id, language, telegram_chat_id, muted) values ($1, $2, $3, $4)
   on conflict (person_id) do update set language = excluded.language, telegram_chat_id = excluded.telegram_chat_id,
     muted = excluded.muted`,
);

/** Everything, where the person has not chosen. */
const usual: Stored = { language: "en", telegramChatId: null, muted: [] };

const causesOf = (role: Role) => alertCauses.filter((cause) => (rolesOfCause[cause] as readonly Role[]).includes(role));

interface Who {
  personId: string;
  role: Role;
}

export async function readAlertSettings(
  tx: Pick<Transaction, "run">,
  { personId, role }: Who,
  settings: Pick<NoticeSettings, "smtpUrl" | "telegramBotToken"> | undefined,
): Promise<AlertSettings> {
  const [{ language, telegramChatId, muted } = usual] = await tx.run(read, [personId]);
  const isOn = (cause: AlertCause) => (channel: AlertChannel) => !muted.includes(`${cause} ${channel}`);
  return {
    language,
    telegramChatId,
    channels: Object.fromEntries(causesOf(role).map((cause) => [cause, alertChannels.filter(isOn(cause))])),
    canMail: settings?.smtpUrl !== undefined,
    canMessage: settings?.telegramBotToken !== undefined,
  };
}

export type AlertSettingsChange = {
  readonly [Field in "language" | "telegramChatId" | "channels"]?: AlertSettings[Field] | undefined;
};

/** What is not named stays, of the channels each cause. */
export async function setAlertSettings(
  database: Pick<Database, "transaction">,
  { personId, change, author }: { personId: string; change: AlertSettingsChange; author: Author | undefined },
): Promise<void> {
  await database.transaction(async (tx) => {
    const opened = await openChange(tx, author, personId);
    const [stored = usual] = await tx.run(read, [personId]);
    const { language = stored.language, telegramChatId = stored.telegramChatId, channels = {} } = change;
    const kept = stored.muted.filter((one) => !Object.keys(channels).some((cause) => one.startsWith(`${cause} `)));
    const muted = Object.entries(channels).flatMap(([cause, on = []]) =>
      alertChannels.filter((channel) => !on.includes(channel)).map((channel) => `${cause} ${channel}`),
    );
    await tx.run(write, [personId, language, telegramChatId, [...kept, ...muted].toSorted()]);
    await audit(tx, opened);
  });
}
