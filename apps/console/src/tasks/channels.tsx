import { taskRoutes } from "@intermission/operator-api/tasks";
import { useQuery } from "@tanstack/react-query";
import { wholeListOf } from "../operator/use-operator.ts";
import { useAdvertiserName } from "../session/advertiser-picker.tsx";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState } from "../ui/answer-view.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { type Channel, CheckButton, RightsPill } from "./channel-rights.tsx";
import { taskWords } from "./words.ts";

/** The interval of reading the rights again; Telegram reports their changes to the task bot. */
const LIVE_MS = 5000;

/** The channels and groups of tasks, with the task bot's rights. */
export function Channels({ advertiser }: { advertiser: string | undefined }) {
  const words = useWords(taskWords);
  const may = useMay();
  const { ago, dateTime } = useFormats();
  const channels = useQuery({
    ...wholeListOf(taskRoutes.listTaskChannels, { query: { advertiser } }),
    refetchInterval: LIVE_MS,
  });
  return (
    <section className="stack" aria-labelledby="channels">
      <h2 id="channels">{words.channels}</h2>
      <AnswerView query={channels} rows={2}>
        {({ channels: rows }) => (
          <DataTable
            label={words.channels}
            rows={rows}
            keyOf={({ chatId }) => chatId}
            empty={<EmptyState>{words.noChannel}</EmptyState>}
            columns={[
              {
                title: words.channel,
                cell: ({ title, username }) => (
                  <>
                    {title} {username !== null && <span className="secondary">@{username}</span>}
                  </>
                ),
              },
              { title: words.id, cell: ({ chatId }) => <code>{chatId}</code> },
              ...(may("listAdvertisers")
                ? [
                    {
                      title: words.advertiser,
                      cell: ({ advertiserId }: Channel) => <Owner advertiserId={advertiserId} />,
                    },
                  ]
                : []),
              { title: words.rights, cell: ({ rights }) => <RightsPill rights={rights} /> },
              {
                title: words.checked,
                cell: ({ checkedAt }) => <span title={dateTime(checkedAt)}>{ago(checkedAt)}</span>,
              },
              { title: "", cell: (channel) => <CheckButton channel={channel} advertiser={advertiser} /> },
            ]}
          />
        )}
      </AnswerView>
    </section>
  );
}

function Owner({ advertiserId }: { advertiserId: string | null }) {
  return useAdvertiserName(advertiserId) ?? advertiserId;
}
