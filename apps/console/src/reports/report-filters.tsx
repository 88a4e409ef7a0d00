import { daysOf, type ReportObject, readableBy, times, zoneOf } from "@intermission/operator-api/report-address";
import { comparisons, objectDimensions } from "@intermission/operator-api/report-figures";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { BotPicker } from "../session/bot-picker.tsx";
import { CampaignPicker } from "../session/campaign-picker.tsx";
import { useOwnBots } from "../session/use-own-bots.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { isSplittable, limitsOf } from "./narrow-report.ts";
import { ReportPresets } from "./report-presets.tsx";
import type { ReportsSearch } from "./search.ts";
import { viewWords } from "./view-words.ts";
import { objectWords, reportWords } from "./words.ts";
import { ZoneField } from "./zone-field.tsx";

const route = getRouteApi("/shell/reports");

/** Range, zone, what the rows are split by, and what they are compared with: all of it in the address. */
export function ReportFilters({ search }: { search: ReportsSearch }) {
  const words = useWords(reportWords);
  const { thenBy } = useWords(viewWords);
  const navigate = route.useNavigate();
  const filter = (changes: Partial<ReportsSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const may = useMay();
  const days = daysOf(search, new Date());
  // A day that is chosen by hand stays, and so does the other one, which was shown.
  const filterDays = (changes: Partial<typeof days>) => filter({ ...days, ...changes, range: undefined });
  const unordered = { orderBy: undefined, order: undefined };
  const { by, also } = search;
  return (
    <>
      <ReportPresets search={search} onChoose={filter} />
      <div className="filters">
        <DayField label={words.from} value={days.from} onChange={(from) => filterDays({ from })} />
        <DayField label={words.to} value={days.to} onChange={(to) => filterDays({ to })} />
        <Labelled label={words.zone}>
          {(id) => <ZoneField id={id} zone={zoneOf(search)} onChange={(zone) => filter({ zone })} />}
        </Labelled>
        <Choice
          label={words.time}
          value={search.time ?? (by === undefined ? "day" : "")}
          options={[["", words.noTime], ...times.map((time) => [time, words.times[time]] as const)]}
          onChange={(value) => filter({ time: times.find((time) => time === value) })}
        />
        <ObjectChoice
          label={words.by}
          value={by}
          beside={limitsOf(search).filter((limit) => limit !== by)}
          onChange={(chosen) =>
            filter({
              by: chosen,
              also: chosen && also && isSplittable(also, [chosen]) ? also : undefined,
              ...unordered,
            })
          }
        />
        {by !== undefined && (
          <ObjectChoice
            label={thenBy}
            value={also}
            beside={[by, ...limitsOf(search).filter((limit) => limit !== also)]}
            onChange={(chosen) => filter({ also: chosen, ...unordered })}
          />
        )}
        <Choice
          label={words.compare}
          value={search.compare ?? ""}
          options={[["", words.noComparison], ...comparisons.map((one) => [one, words.comparisons[one]] as const)]}
          onChange={(value) => filter({ compare: comparisons.find((one) => one === value) })}
        />
        <BotChoice search={search} onChange={(bot) => filter({ bot })} />
        {may("listCampaigns") && <CampaignChoice search={search} onChange={(campaign) => filter({ campaign })} />}
      </div>
    </>
  );
}

interface ObjectChoiceProps {
  label: string;
  value: ReportObject | undefined;
  /** What it must go with. */
  beside: readonly ReportObject[];
  onChange: (object: ReportObject | undefined) => void;
}

function ObjectChoice({ label, value, beside, onChange }: ObjectChoiceProps) {
  const words = useWords(reportWords);
  const names = objectWords[useLanguage()];
  const person = usePerson();
  // Publishers do not see who pays.
  const offered = objectDimensions.filter(
    (by) => readableBy(person, { by }).by !== undefined && isSplittable(by, beside),
  );
  return (
    <Choice
      label={label}
      value={value ?? ""}
      options={[["", words.noObject], ...offered.map((one) => [one, names[one]] as const)]}
      onChange={(chosen) => onChange(objectDimensions.find((one) => one === chosen))}
    />
  );
}

function BotChoice({ search, onChange }: { search: ReportsSearch; onChange: (bot: string | undefined) => void }) {
  const words = useWords(reportWords);
  const may = useMay();
  const { role } = usePerson();
  if (!may("showBot")) return null;
  // A publisher's report is of one of its bots.
  if (role === "publisher") return <OwnBotChoice value={search.bot} onChange={onChange} />;
  return (
    <Labelled label={words.bot}>
      {(id) => <BotPicker id={id} label={words.bot} value={search.bot} all={words.allBots} onChange={onChange} />}
    </Labelled>
  );
}

function OwnBotChoice({ value, onChange }: { value: string | undefined; onChange: (bot: string) => void }) {
  const words = useWords(reportWords);
  const bots = useOwnBots().data ?? [];
  return (
    <Choice
      label={words.bot}
      value={value ?? ""}
      options={bots.map(({ botId, name }) => [botId, name] as const)}
      onChange={onChange}
    />
  );
}

function CampaignChoice({
  search,
  onChange,
}: {
  search: ReportsSearch;
  onChange: (campaign: string | undefined) => void;
}) {
  const words = useWords(reportWords);
  const { campaign } = search;
  return (
    <Labelled label={words.campaign}>
      {(id) => (
        <CampaignPicker id={id} label={words.campaign} value={campaign} all={words.allCampaigns} onChange={onChange} />
      )}
    </Labelled>
  );
}

function Labelled({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

interface DayFieldProps {
  label: string;
  value: string;
  onChange: (day: string) => void;
}

function DayField({ label, value, onChange }: DayFieldProps) {
  return (
    <Labelled label={label}>
      {(id) => (
        // While a part of the day is missing there is none: the report stays.
        <input
          id={id}
          type="date"
          value={value}
          onChange={({ target }) => target.value !== "" && onChange(target.value)}
        />
      )}
    </Labelled>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <Labelled label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
          {/* A zone that this browser names otherwise, or what an old address names: else the select would show another one. */}
          {value !== "" && !options.some(([name]) => name === value) && <option value={value}>{value}</option>}
          {options.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
