import {
  type AlertCause,
  type AlertChannel,
  alertCauses,
  alertChannels,
  alertRoutes,
  type AlertSettings as Settings,
} from "@intermission/operator-api/alerts";
import { statementLanguages } from "@intermission/operator-api/statement-languages";
import { useState } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { loadWords } from "../words/catalog.ts";
import { languageNames } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";

const alertSettingsWords = loadWords("alertSettings");

/** Of what and where the person is told. */
export function AlertSettings() {
  const words = useWords(alertSettingsWords);
  const settings = useAnswer(alertRoutes.showAlertSettings);
  return (
    <section id="alerts">
      <h2>{words.title}</h2>
      <p className="secondary">{words.about}</p>
      <AnswerView query={settings} rows={3}>
        {(stored) => <SettingsForm stored={stored} />}
      </AnswerView>
    </section>
  );
}

function SettingsForm({ stored }: { stored: Settings }) {
  const words = useWords(alertSettingsWords);
  const notice = useNotice();
  const set = useConfirmedChange(alertRoutes.setAlertSettings);
  const [channels, setChannels] = useState(stored.channels);
  const [messages, setMessages] = useState(stored.language);
  const [chat, setChat] = useState(stored.telegramChatId ?? "");
  const causes = alertCauses.filter((cause) => stored.channels[cause] !== undefined);
  const toggle = (cause: AlertCause, channel: AlertChannel) => {
    const on = channels[cause] ?? [];
    const isOn = on.includes(channel);
    setChannels({ ...channels, [cause]: isOn ? on.filter((one) => one !== channel) : [...on, channel] });
  };
  const isOffered = (channel: AlertChannel) =>
    channel === "console" || (channel === "email" ? stored.canMail : stored.canMessage);
  const shown = alertChannels.filter(isOffered);
  const telegramChatId = chat.trim() === "" ? null : chat.trim();
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (set.isPending) return;
        const body = { channels, language: messages, ...(stored.canMessage && { telegramChatId }) };
        void set.run({ body }, () => notice({ text: words.saved }));
      }}
    >
      <DataTable
        label={words.title}
        rows={causes}
        keyOf={(cause) => cause}
        columns={[
          { title: words.cause, cell: (cause) => words.causes[cause] },
          ...shown.map((channel) => ({
            title: words.channels[channel],
            cell: (cause: AlertCause) => (
              <input
                type="checkbox"
                aria-label={`${words.causes[cause]}: ${words.channels[channel]}`}
                checked={channels[cause]?.includes(channel) ?? false}
                onChange={() => toggle(cause, channel)}
              />
            ),
          })),
        ]}
      />
      {!stored.canMail && !stored.canMessage && <p className="secondary">{words.consoleOnly}</p>}
      {(stored.canMail || stored.canMessage) && (
        <Field label={words.language}>
          {(control) => (
            <select
              {...control}
              value={messages}
              onChange={({ target }) => setMessages(statementLanguages.find((one) => one === target.value) ?? messages)}
            >
              {statementLanguages.map((one) => (
                <option key={one} value={one}>
                  {languageNames[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {stored.canMessage && (
        <Field label={words.chat} hint={words.chatHint} fault={set.faults.telegramChatId}>
          {(control) => <input {...control} value={chat} onChange={({ target }) => setChat(target.value)} />}
        </Field>
      )}
      <div className="row">
        <Button look="primary" type="submit" isBusy={set.isPending}>
          {words.save}
        </Button>
      </div>
      {set.dialog}
    </form>
  );
}
