import { unknownMacros } from "@intermission/operator-api/landing-macros";
import { lazy } from "react";
import type { FormConflicts } from "../forms/conflicts.tsx";
import type { TypedValues } from "../forms/form-definition.ts";
import { FormSections } from "../forms/form-sections.tsx";
import type { TypedForm } from "../forms/typed-form.ts";
import { isEmpty } from "../forms/typed-values.ts";
import { useMay } from "../session/use-session.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { type CampaignField, type CampaignSection, newCampaignValues } from "./campaign-form-definition.ts";
import { Forecast } from "./forecast.tsx";
import { wordsOfCampaignForm } from "./form-words.ts";
import { useAdvertisersLike } from "./use-advertisers-like.ts";
import { campaignWords } from "./words.ts";

/** Only a new campaign has it. */
const VideosField = lazy(async () => ({ default: (await import("./videos-field.tsx")).VideosField }));

interface CampaignSectionsProps {
  form: TypedForm<CampaignField, CampaignSection>;
  isNewAdvertiser: boolean;
  /** Of a campaign that exists. */
  campaignId?: string;
  conflicts?: FormConflicts | undefined;
}

/** The fields of a campaign, with warnings about what is rarely meant. */
export function CampaignSections({ form, isNewAdvertiser, campaignId, conflicts }: CampaignSectionsProps) {
  const language = useLanguage();
  const may = useMay();
  const words = wordsOfCampaignForm(language, form.values["newAdvertiser/billing"]);
  const { data } = useAdvertisersLike(String(form.values.advertiser ?? ""));
  return (
    <>
      <FormSections
        form={form}
        words={words}
        usual={newCampaignValues}
        conflicts={conflicts}
        suggestions={{ advertiser: data?.advertisers.map(({ name }) => name) ?? [] }}
        controls={{ creativeIds: VideosField }}
      />
      <Warnings values={form.values} isNewAdvertiser={isNewAdvertiser} />
      {may("forecastViews") && hasVideos(form.values) && <Forecast form={form} campaignId={campaignId} />}
    </>
  );
}

const hasVideos = ({ formats }: TypedValues) => Array.isArray(formats) && formats.includes("rewarded");

function Warnings({ values, isNewAdvertiser }: { values: TypedValues; isNewAdvertiser: boolean }) {
  const words = useWords(campaignWords);
  const isSet = (...names: CampaignField[]) => names.some((name) => !isEmpty(values[name]));
  const hasPrice = isSet("viewPriceMicros", "clickPriceMicros", "taskPriceMicros");
  const limits = [
    "dailyBudgetMicros",
    "totalBudgetMicros",
    "dailyViewCap",
    "totalViewCap",
    "dailyClickCap",
    "totalClickCap",
  ] as const;
  const warnings = [
    !hasPrice && values.priority !== "house" && words.warnNoPrice,
    hasPrice && !isSet(...limits) && words.warnNoCap,
    isNewAdvertiser && words.warnNewAdvertiser(String(values.advertiser).trim()),
    ...unknownMacros(String(values.landingUrl)).map(words.warnMacro),
  ];
  return (
    <ul className="warnings" aria-live="polite">
      {warnings.map((warning) => warning && <li key={warning}>{warning}</li>)}
    </ul>
  );
}
