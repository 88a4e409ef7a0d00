import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import type { Targeting } from "@intermission/operator-api/campaigns";
import { unknownMacros } from "@intermission/operator-api/landing-macros";
import { lazy, type ReactNode, Suspense } from "react";
import type { UseFormRegisterReturn, UseFormReturn } from "react-hook-form";
import type { LocalText } from "../operator/local-text.ts";
import { useWholeList } from "../operator/use-operator.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { MomentField } from "../ui/moment-field.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import {
  type CampaignFormValues,
  type FormReading,
  formats,
  formField,
  newCampaignValues,
  priorities,
  readCampaignForm,
} from "./campaign-form-values.ts";
import { campaignWords } from "./words.ts";

/** Only a new campaign has it. */
const VideosField = lazy(async () => ({ default: (await import("./videos-field.tsx")).VideosField }));

interface CampaignFormProps {
  form: UseFormReturn<CampaignFormValues>;
  /** The targeting of the campaign, of which the form shows a part. */
  targeting?: Targeting;
  /** Formats and videos are chosen when a campaign is made. */
  isNew: boolean;
  submitText: string;
  isBusy: boolean;
  /** Of the server's refusal, by the fields of the request. */
  serverFaults: Readonly<Record<string, LocalText>>;
  /** `sent`: what the fields held. */
  onSubmit: (body: Extract<FormReading, { outcome: "request" }>["body"], sent: CampaignFormValues) => void;
}

/** The settings of a campaign, checked by the schemas of the routes, with warnings about what is rarely meant. */
export function CampaignForm(props: CampaignFormProps) {
  const { form, targeting, isNew, submitText, isBusy, serverFaults, onSubmit } = props;
  const words = useWords(campaignWords);
  const language = useLanguage();
  const { register, handleSubmit, setError, formState, watch } = form;
  const current = watch();
  const faultOf = (field: keyof CampaignFormValues) =>
    formState.errors[field]?.message ??
    Object.entries(serverFaults).find(([name]) => formField(name) === field)?.[1][language];
  const submit = handleSubmit(async (typed) => {
    const read = await readCampaignForm(typed, targeting);
    if (read.outcome === "request") {
      onSubmit(read.body, typed);
      return;
    }
    // The first on the page.
    const first = Object.keys(newCampaignValues).find((field) => Object.hasOwn(read.faults, field));
    for (const [field, text] of Object.entries(read.faults))
      setError(formField(field), { message: text[language] }, { shouldFocus: field === first });
  });
  const input = (
    field: keyof CampaignFormValues,
    label: string,
    { hint, ...rest }: { hint?: ReactNode; type?: string; inputMode?: "decimal" | "url"; list?: string } = {},
  ) => (
    <Field label={label} hint={hint} fault={faultOf(field)}>
      {(control) => <input {...control} {...rest} {...register(field)} />}
    </Field>
  );
  const moment = (field: "startsAt" | "endsAt", label: string, hint: string) => (
    <MomentField label={label} hint={hint} text={current[field]} fault={faultOf(field)} {...register(field)} />
  );
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <div className="two">
        {input("name", words.name)}
        {input("advertiser", words.advertiser, { list: "advertisers" })}
        <Advertisers />
      </div>
      {isNew && (
        <div className="two">
          <fieldset className="choices">
            <legend>{words.format}</legend>
            {formats.map((format) => (
              <Choice key={format} label={words[format]} control={register("formats")} value={format} />
            ))}
            <p className="fault">{faultOf("formats")}</p>
          </fieldset>
          {current.formats.includes("rewarded") && (
            <Suspense fallback={<Skeleton rows={4} />}>
              <VideosField control={form.control} fault={faultOf("creativeIds")} />
            </Suspense>
          )}
        </div>
      )}
      {input("landingUrl", words.landingUrl, { type: "url", inputMode: "url" })}
      <div className="two">
        {current.formats.includes("rewarded") && input("viewPrice", words.viewPrice, { inputMode: "decimal" })}
        {current.formats.includes("direct_link") && input("clickPrice", words.clickPrice, { inputMode: "decimal" })}
        {input("dailyBudget", words.daily, { inputMode: "decimal", hint: words.noBudget })}
        {input("totalBudget", words.total, { inputMode: "decimal", hint: words.noBudget })}
      </div>
      <div className="two">
        {moment("startsAt", words.startsAt, words.noStart)}
        {moment("endsAt", words.endsAt, words.noEndHint)}
      </div>
      <div className="two">
        {input("languages", words.languages, { hint: words.languagesHint })}
        {input("bots", words.bots, { hint: words.botsHint })}
        <Priorities control={register("priority")} fault={faultOf("priority")} />
      </div>
      <Warnings values={current} />
      <div className="row">
        <Button look="primary" type="submit" isBusy={isBusy}>
          {submitText}
        </Button>
      </div>
    </form>
  );
}

function Priorities({ control, fault }: { control: UseFormRegisterReturn; fault: string | undefined }) {
  const words = useWords(campaignWords);
  return (
    <Field label={words.priority} fault={fault}>
      {(ofField) => (
        <select {...ofField} {...control}>
          {priorities.map((priority) => (
            <option key={priority} value={priority}>
              {words[priority]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Warnings({ values }: { values: CampaignFormValues }) {
  const words = useWords(campaignWords);
  const isHouse = values.priority === "house";
  const hasPrice = values.viewPrice !== "" || values.clickPrice !== "";
  const hasBudget = values.dailyBudget !== "" || values.totalBudget !== "";
  const { data } = useWholeList(advertiserRoutes.listAdvertisers);
  const advertiser = values.advertiser.trim();
  // Names that differ only in case and blanks are the same advertiser.
  const key = (name: string) => name.trim().replace(/\s+/g, " ").toLowerCase();
  const isKnown = data?.advertisers.some(
    ({ name, advertiserId }) => key(name) === key(advertiser) || advertiserId === advertiser,
  );
  const warnings = [
    !hasPrice && !isHouse && words.warnNoPrice,
    hasPrice && !hasBudget && words.warnNoCap,
    advertiser !== "" && isKnown === false && words.warnNewAdvertiser(advertiser),
    ...unknownMacros(values.landingUrl).map(words.warnMacro),
  ];
  return (
    <ul className="warnings" aria-live="polite">
      {warnings.map((warning) => warning && <li key={warning}>{warning}</li>)}
    </ul>
  );
}

function Advertisers() {
  const { data } = useWholeList(advertiserRoutes.listAdvertisers);
  return (
    <datalist id="advertisers">
      {data?.advertisers.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

function Choice({ label, control, value }: { label: string; control: UseFormRegisterReturn; value: string }) {
  return (
    <label>
      <input type="checkbox" value={value} {...control} />
      {label}
    </label>
  );
}
