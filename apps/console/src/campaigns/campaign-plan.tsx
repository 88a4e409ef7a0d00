import { campaignPace } from "@intermission/operator-api/campaign-pace";
import { isViewFormat } from "@intermission/operator-api/campaign-words";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useQuery } from "@tanstack/react-query";
import { answerOf } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { loadWords } from "../words/catalog.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { GOOD_PACE, type ListedCampaign } from "./campaign-columns.tsx";
import { phaseOf } from "./pace.ts";

const planWords = loadWords("campaignPlan");
const route = campaignRoutes.forecastViews;
/** The campaign's current settings that the server's estimate needs. `Object.keys` loses the type of the keys. */
const settings = Object.keys(route.body.shape) as (keyof typeof route.body.shape)[];

function pick<Whole extends object, Name extends keyof Whole>(whole: Whole, names: readonly Name[]): Pick<Whole, Name> {
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as Pick<Whole, Name>;
}

/** Why a running campaign delivers less than planned; otherwise empty. */
export function CampaignPlan({ campaign }: { campaign: ListedCampaign }) {
  const words = useWords(planWords);
  const { share } = useFormats();
  const now = Date.now();
  const pace = campaignPace(campaign, now);
  if (pace === undefined || pace >= GOOD_PACE.min || phaseOf(campaign, now) !== "running") return null;
  return (
    <p className="panel" role="status">
      {words.behind(share(pace))} <Reason campaign={campaign} />
    </p>
  );
}

function Reason({ campaign }: { campaign: ListedCampaign }) {
  const words = useWords(planWords);
  const may = useMay();
  const { number, money } = useFormats();
  const { data } = useQuery({
    ...answerOf(route, { body: pick(campaign, settings) }),
    enabled: may("forecastViews") && campaign.formats.some(isViewFormat),
  });
  if (data === undefined || data.days === 0) return null;
  const { limitedBy, viewsPerDay, spendPerDayMicros, currency } = data;
  return words.reasons[limitedBy]({ views: number(viewsPerDay), amount: money(spendPerDayMicros, currency) });
}
