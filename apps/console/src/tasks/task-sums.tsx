import { taskRoutes } from "@intermission/operator-api/tasks";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { taskWords } from "./words.ts";

interface TaskSumsProps {
  of: { botId: string | undefined; campaignId: string | undefined; advertiser: string | undefined };
}

/** Outcomes of the tasks of the last 90 days, and how many joined users were still members by day. */
export function TaskSums({ of }: TaskSumsProps) {
  const words = useWords(taskWords);
  const { number, share } = useFormats();
  const sums = useAnswer(taskRoutes.sumTasks, { query: of });
  return (
    <AnswerView query={sums} rows={2}>
      {({ states, paid, reversed, retention }) => {
        const { held = 0, kept = 0, left = 0, offered = 0, opened = 0, lapsed = 0 } = states;
        const notCounted = states.void ?? 0;
        if (Object.keys(states).length === 0) return null;
        const facts = [
          [words.offers, offered + opened + lapsed + held + kept + left + notCounted],
          [words.joinedFact, held + kept + left],
          [words.heldNow, held],
          [words.paid, paid],
          [words.reversed, reversed],
          [words.void, notCounted],
        ] as const;
        return (
          <section className="stack" aria-labelledby="task-sums">
            <h2 id="task-sums">{words.sums}</h2>
            <dl className="panel facts">
              {facts.map(([title, count]) => (
                <div key={title}>
                  <dt>{title}</dt>
                  <dd>{number(count)}</dd>
                </div>
              ))}
            </dl>
            {retention.length > 0 && (
              <>
                <h3>{words.retention}</h3>
                <DataTable
                  label={words.retention}
                  rows={retention}
                  keyOf={({ day }) => String(day)}
                  columns={[
                    { title: words.afterDays, cell: ({ day }) => words.days(day) },
                    { title: words.joinedFact, isNumber: true, cell: ({ joined }) => number(joined) },
                    { title: words.stillMembers, isNumber: true, cell: ({ stayed }) => number(stayed) },
                    {
                      title: words.retained,
                      isNumber: true,
                      cell: ({ joined, stayed, unknown }) =>
                        joined > unknown ? share(stayed / (joined - unknown)) : "–",
                    },
                    { title: words.unknown, isNumber: true, cell: ({ unknown }) => number(unknown) },
                  ]}
                />
                <p className="hint">{words.retentionHint}</p>
              </>
            )}
          </section>
        );
      }}
    </AnswerView>
  );
}
