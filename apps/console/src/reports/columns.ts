import { zoneOf } from "@intermission/operator-api/report-address";
import { reportOrders } from "@intermission/operator-api/report-figures";
import { z } from "zod";
import { jsonIn } from "../operator/call-operator.ts";
import type { Figure, Figures } from "./figures.ts";
import type { ReportsSearch } from "./search.ts";

/** Money first, then in the order in which an ad passes them. */
const isMoney = (figure: Figure) => figure.endsWith("Micros");
export const figures: readonly Figure[] = [
  ...reportOrders.filter(isMoney),
  ...reportOrders.filter((figure) => !isMoney(figure)),
];

/** Shown until the reader chooses: as many as a small window has room for. */
const usual: readonly Figure[] = [
  "spendMicros",
  "revenueMicros",
  "ecpmMicros",
  "requests",
  "fillRate",
  "rewards",
  "clicks",
  "conversions",
];
const USUAL = "usual";

/** The columns that an address names, of those that its reader may see, money first. */
export function columnsOf({ columns = USUAL }: ReportsSearch, total: Figures): Figure[] {
  const names: readonly string[] = columns.split(",");
  const chosen = figures.filter((figure) => names.includes(figure));
  return (chosen.length === 0 ? figures.filter((figure) => usual.includes(figure)) : chosen).filter(
    (figure) => total[figure] !== undefined,
  );
}

/** These columns as an address names them. */
export function namedColumns(chosen: readonly Figure[]): string {
  const names = figures.filter((figure) => chosen.includes(figure)).join(",");
  return names === figures.filter((figure) => usual.includes(figure)).join(",") || names === "" ? USUAL : names;
}

const kept = z.object({ columns: z.string().optional(), isPlainCsv: z.boolean().optional() });
type Kept = z.output<typeof kept>;
const KEY = "console-report";

/** How the reader looks at reports in this browser: what was chosen last. */
export function keptView(): Kept {
  return kept.safeParse(jsonIn(localStorage.getItem(KEY) ?? "")).data ?? {};
}

export function keepView(changes: Kept): void {
  localStorage.setItem(KEY, JSON.stringify({ ...keptView(), ...changes }));
}

/** The same report for each reader, whose browser may have another zone and other columns. */
export const withView = (search: ReportsSearch): ReportsSearch => ({
  ...search,
  zone: zoneOf(search),
  columns: search.columns ?? keptView().columns ?? USUAL,
});
