import { endpointRoutes, type ListedEndpoint } from "@intermission/operator-api/endpoints";
import { type NoticeChannel, noticeRoutes } from "@intermission/operator-api/notices";
import type { AnswerOf } from "@intermission/operator-api/route";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import {
  endpointForm,
  endpointFormWords,
  noticesForm,
  noticesFormWords,
  webhookSettingsWords,
} from "./webhook-forms.ts";

/** How much is sent to a bot's endpoint at once, and who is told when it fails. `endpoint`: undefined while it is read. */
export function WebhookSettings({ botId, endpoint }: { botId: string; endpoint: ListedEndpoint | undefined }) {
  const words = useWords(webhookSettingsWords);
  const may = useMay();
  const notices = useAnswer(noticeRoutes.showNotices, { params: { botId } });
  return (
    <section className="panel narrow stack" aria-labelledby="webhook-settings">
      <h2 id="webhook-settings">{words.title}</h2>
      {endpoint !== undefined && endpoint.url !== null && may("limitEndpoint") && <Limit endpoint={endpoint} />}
      <h3>{words.notices}</h3>
      <p className="secondary">{words.noticesText}</p>
      <AnswerView query={notices} rows={3}>
        {({ receivers }) => (
          <>
            <Receivers receivers={receivers} />
            {may("setNotices") && <Notices botId={botId} receivers={receivers} />}
          </>
        )}
      </AnswerView>
    </section>
  );
}

function Limit({ endpoint }: { endpoint: ListedEndpoint }) {
  const words = useWords(endpointFormWords);
  const { save } = useWords(uiWords);
  const limit = useConfirmedChange(endpointRoutes.limitEndpoint);
  const params = { botId: endpoint.botId };
  return (
    <StoredForm
      definition={endpointForm}
      stored={endpoint}
      schema={endpointRoutes.limitEndpoint.body}
      isPending={limit.isPending}
      serverFaults={limit.faults}
      onSave={(body, _, onDone) => limit.run({ params, body }, onDone)}
      saveLabel={`${save}: ${words.labels.maxInFlight}`}
    >
      {(form, conflicts) => <FormSections form={form} words={words} conflicts={conflicts} />}
    </StoredForm>
  );
}

type Receiver = AnswerOf<typeof noticeRoutes.showNotices>["receivers"][number];

const fieldOf = {
  webhook: "webhookUrl",
  email: "email",
  telegram: "telegramChatId",
} as const satisfies Record<NoticeChannel, string>;

/** The addresses, as a request names them. */
function addressesOf(receivers: readonly Receiver[]) {
  const addressOf = (channel: NoticeChannel) => receivers.find((one) => one.channel === channel)?.address ?? null;
  return { webhookUrl: addressOf("webhook"), email: addressOf("email"), telegramChatId: addressOf("telegram") };
}

function Notices({ botId, receivers }: { botId: string; receivers: readonly Receiver[] }) {
  const words = useWords(noticesFormWords);
  const { notices } = useWords(webhookSettingsWords);
  const { save } = useWords(uiWords);
  const set = useConfirmedChange(noticeRoutes.setNotices);
  return (
    <StoredForm
      definition={noticesForm}
      stored={addressesOf(receivers)}
      schema={noticeRoutes.setNotices.body}
      isPending={set.isPending}
      serverFaults={set.faults}
      onSave={(body, _, onDone) =>
        set.run({ params: { botId }, body }, (changed) => onDone(addressesOf(changed.receivers)))
      }
      saveLabel={`${save}: ${notices}`}
    >
      {(form, conflicts) => <FormSections form={form} words={words} conflicts={conflicts} />}
    </StoredForm>
  );
}

/** What each of them was sent last, or why it could not be. */
function Receivers({ receivers }: { receivers: readonly Receiver[] }) {
  const words = useWords(webhookSettingsWords);
  const { labels } = useWords(noticesFormWords);
  const { ago, dateTime } = useFormats();
  if (receivers.length === 0) return <p className="late">{words.nobody}</p>;
  return (
    <dl className="pairs">
      {receivers.map(({ channel, address, lastSentAt, lastError }) => (
        <div key={channel}>
          <dt>{labels[fieldOf[channel]]}</dt>
          <dd>
            {address}
            <small>
              {lastSentAt === null ? (
                words.neverSent
              ) : (
                <span title={dateTime(lastSentAt)}>{words.lastSent(ago(lastSentAt))}</span>
              )}
            </small>
            {lastError !== null && <p className="fault">{words.notSent(lastError)}</p>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
