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
import { campaignReviewWords, campaignWords } from "./words.ts";

/** Only a new campaign has it. */
const VideosField = lazy(async () => ({ default: (await import("./videos-field.tsx")).VideosField }));

interface CampaignSectionsProps {
  form: TypedForm<CampaignField, CampaignSection>;
  isNewAdvertiser: boolean;
  /** Of a campaign that exists. */
  campaignId?: string;
  conflicts?: FormConflicts | undefined;
  /** The form is an advertiser's: an operator sets the final price. */
  isDraft?: boolean;
}

/** The fields of a campaign, with warnings about what is rarely meant. */
export function CampaignSections(props: CampaignSectionsProps) {
  const { form, isNewAdvertiser, campaignId, conflicts, isDraft = false } = props;
  const language = useLanguage();
  const may = useMay();
  const usual = wordsOfCampaignForm(language, form.values["newAdvertiser/billing"]);
  const { priceHint } = useWords(campaignReviewWords);
  const ofPrice = isDraft ? { viewPriceMicros: priceHint, clickPriceMicros: priceHint } : {};
  const words = { ...usual, hints: { ...usual.hints, ...ofPrice } };
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
      <Warnings values={form.values} isNewAdvertiser={isNewAdvertiser} isDraft={isDraft} />
      {may("forecastViews") && hasVideos(form.values) && <Forecast form={form} campaignId={campaignId} />}
    </>
  );
}

const hasVideos = ({ formats }: TypedValues) => Array.isArray(formats) && formats.includes("rewarded");

function Warnings({
  values,
  isNewAdvertiser,
  isDraft,
}: {
  values: TypedValues;
  isNewAdvertiser: boolean;
  isDraft: boolean;
}) {
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
    !isDraft && !hasPrice && values.priority !== "house" && words.warnNoPrice,
    !isDraft && hasPrice && !isSet(...limits) && words.warnNoCap,
    isNewAdvertiser && words.warnNewAdvertiser(String(values.advertiser).trim()),
    ...unknownMacros(String(values.landingUrl)).map(words.warnMacro),
  ];
  return (
    <ul className="warnings" aria-live="polite">
      {warnings.map((warning) => warning && <li key={warning}>{warning}</li>)}
    </ul>
  );
}
