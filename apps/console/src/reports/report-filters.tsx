import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { useBots } from "../session/use-bots.ts";
import { useCampaigns } from "../session/use-campaigns.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { readableBy, zoneOf } from "./report-query.ts";
import { comparisons, objects, type ReportsSearch, times } from "./search.ts";
import { objectWords, reportWords } from "./words.ts";

const route = getRouteApi("/shell/reports");

/** Range, zone, what the rows are split by, and what they are compared with: all of it in the address. */
export function ReportFilters({ search }: { search: ReportsSearch }) {
  const words = useWords(reportWords);
  const names = objectWords[useLanguage()];
  const navigate = route.useNavigate();
  const filter = (changes: Partial<ReportsSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const person = usePerson();
  const may = useMay();
  // Publishers do not see who pays.
  const offered = objects.filter((by) => readableBy(person, { by }).by !== undefined);
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
  return (
    <div className="filters">
      <DayField label={words.from} value={search.from} onChange={(from) => filter({ from })} />
      <DayField label={words.to} value={search.to} onChange={(to) => filter({ to })} />
      <Choice
        label={words.zone}
        value={zoneOf(search)}
        options={zones.map((zone) => [zone, zone])}
        onChange={(zone) => filter({ zone })}
      />
      <Choice
        label={words.time}
        value={search.time ?? (search.by === undefined ? "day" : "")}
        options={[["", words.noTime], ...times.map((time) => [time, words.times[time]] as const)]}
        onChange={(value) => filter({ time: times.find((time) => time === value) })}
      />
      <Choice
        label={words.by}
        value={search.by ?? ""}
        options={[["", words.noObject], ...offered.map((one) => [one, names[one]] as const)]}
        onChange={(value) => filter({ by: objects.find((one) => one === value), orderBy: undefined, order: undefined })}
      />
      <Choice
        label={words.compare}
        value={search.compare ?? ""}
        options={[["", words.noComparison], ...comparisons.map((one) => [one, words.comparisons[one]] as const)]}
        onChange={(value) => filter({ compare: comparisons.find((one) => one === value) })}
      />
      <BotChoice search={search} onChange={(bot) => filter({ bot })} />
      {may("listCampaigns") && <CampaignChoice search={search} onChange={(campaign) => filter({ campaign })} />}
    </div>
  );
}

function BotChoice({ search, onChange }: { search: ReportsSearch; onChange: (bot: string | undefined) => void }) {
  const words = useWords(reportWords);
  const may = useMay();
  const { role } = usePerson();
  const bots = useBots();
  if (!may("showBot")) return null;
  const all = role === "publisher" ? [] : [["", words.allBots] as const];
  return (
    <Choice
      label={words.bot}
      value={search.bot ?? ""}
      options={[...all, ...(bots.data ?? []).map(({ botId, name }) => [botId, name] as const)]}
      onChange={(bot) => onChange(bot || undefined)}
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
  const campaigns = useCampaigns({ archived: true });
  return (
    <Choice
      label={words.campaign}
      value={search.campaign ?? ""}
      options={[
        ["", words.allCampaigns],
        ...(campaigns.data?.campaigns ?? []).map(({ campaignId, name }) => [campaignId, name] as const),
      ]}
      onChange={(campaign) => onChange(campaign || undefined)}
    />
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
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}

function DayField({ label, value, onChange }: DayFieldProps) {
  return (
    <Labelled label={label}>
      {(id) => (
        <input
          id={id}
          type="date"
          value={value ?? ""}
          onChange={(event) => onChange(event.target.value || undefined)}
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
