import { statisticsRoutes } from "@intermission/operator-api/statistics";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import type { ReportQuery } from "./use-report.ts";
import { viewWords } from "./view-words.ts";

interface ReportUsersProps {
  query: ReportQuery;
  currency: string;
}

/** How many users a report is of, on how many days they came, and what each brought. */
export function ReportUsers({ query, currency }: ReportUsersProps) {
  const words = useWords(viewWords);
  const { country, platform, language, premium, ...rest } = query;
  const isOfAudience = [country, platform, language, premium].some((value) => value !== undefined);
  if (isOfAudience) return <p className="secondary">{words.usersOfAll}</p>;
  const { botId, campaignId, creativeId, advertiser, timeZone, from, to } = rest;
  return <Users query={{ botId, campaignId, creativeId, advertiser, timeZone, from, to }} currency={currency} />;
}

function Users({ query, currency }: ReportUsersProps) {
  const words = useWords(viewWords);
  const { number, money, share } = useFormats();
  const users = useAnswer(statisticsRoutes.sumUsers, { query });
  const amount = (micros: number | null) => (micros === null ? "–" : money(micros, currency));
  return (
    <AnswerView query={users} rows={2}>
      {({ state, users, userDays, returningUsers, nextDayShare, revenuePerUserMicros, revenuePerUserDayMicros }) => {
        if (state !== "read") return <p className="secondary">{words.usersUnread[state]}</p>;
        const facts = [
          [words.users, number(users ?? 0)],
          [words.userDays, number(userDays ?? 0)],
          [words.returningUsers, number(returningUsers ?? 0)],
          ...(nextDayShare == null ? [] : [[words.nextDay, share(nextDayShare)] as const]),
          ...(revenuePerUserMicros === undefined ? [] : [[words.perUser, amount(revenuePerUserMicros)] as const]),
          ...(revenuePerUserDayMicros === undefined
            ? []
            : [[words.perUserDay, amount(revenuePerUserDayMicros)] as const]),
        ] as const;
        return (
          <>
            <dl className="facts">
              {facts.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            <p className="small secondary report-parts">{words.usersNote}</p>
          </>
        );
      }}
    </AnswerView>
  );
}
