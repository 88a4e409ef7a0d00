import { campaignRoutes } from "@intermission/operator-api/campaigns";
import type { AnswerOf } from "@intermission/operator-api/route";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { z } from "zod";
import { readFields } from "../forms/form-definition.ts";
import type { TypedForm } from "../forms/typed-form.ts";
import { answerOf } from "../operator/use-operator.ts";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import type { CampaignField, CampaignSection } from "./campaign-form-definition.ts";
import { campaignWords } from "./words.ts";

const route = campaignRoutes.forecastViews;
type Request = z.input<typeof route.body>;

/** Whoever types goes on within this time. */
const SETTLED_MS = 400;
const settings: readonly string[] = Object.keys(route.body.shape);

/** What a campaign of videos may expect, as it stands in its form; nothing while a field is wrong. */
export function Forecast({
  form,
  campaignId,
}: {
  form: TypedForm<CampaignField, CampaignSection>;
  campaignId: string | undefined;
}) {
  const request = useRequest(form, campaignId);
  const { data } = useQuery({
    ...answerOf(route, { body: request ?? {} }),
    enabled: request !== undefined,
    placeholderData: keepPreviousData,
  });
  return (
    <p className="secondary" role="status">
      {request !== undefined && data !== undefined && <ForecastText {...data} />}
    </p>
  );
}

/** The body of the question, once nobody types. */
function useRequest(
  { definition, values, shown }: TypedForm<CampaignField, CampaignSection>,
  campaignId: string | undefined,
): Request | undefined {
  const language = useLanguage();
  const [request, setRequest] = useState<Request>();
  const names = shown.filter((name) => settings.includes(name.split("/", 1)[0] ?? ""));
  const typed = JSON.stringify(names.map((name) => values[name]));
  // `typed` has what is read of the form.
  useEffect(() => {
    let isLatest = true;
    const timer = setTimeout(async () => {
      const reading = await readFields(definition, values, {
        names,
        schema: route.body,
        fixed: { campaignId },
        language,
      });
      if (isLatest) setRequest(reading.outcome === "body" ? reading.body : undefined);
    }, SETTLED_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [typed, campaignId, language]);
  return request;
}

function ForecastText(answer: AnswerOf<typeof route>) {
  const words = useWords(campaignWords);
  const { number, money } = useFormats();
  const { days, requestsPerDay, unfilledPerDay, viewsPerDay, limitedBy, spendPerDayMicros, currency, daysOfBudget } =
    answer;
  if (days === 0) return words.forecastNone;
  const views = { views: number(viewsPerDay), amount: money(spendPerDayMicros, currency) };
  const sentences = [
    words.forecastRequests({ requests: number(requestsPerDay), unfilled: number(unfilledPerDay), days }),
    words.forecastViews[limitedBy](views),
    daysOfBudget !== null &&
      (daysOfBudget < 1 ? words.forecastEndsToday : words.forecastLasts(Math.round(daysOfBudget))),
  ];
  return sentences.filter((sentence) => sentence !== false).join(" ");
}
