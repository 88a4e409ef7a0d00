import type { ReportOrder } from "@intermission/operator-api/report-figures";
import type { AnswerOf } from "@intermission/operator-api/route";
import type { statisticsRoutes } from "@intermission/operator-api/statistics";
import { useFormats } from "../words/formats.ts";
import { useLanguage } from "../words/word-table.ts";

export type Report = AnswerOf<typeof statisticsRoutes.readStats>;
export type Row = Report["rows"][number];
export type Figures = Report["total"];
export type Figure = ReportOrder;

/** Whether a figure is a quotient, which is nothing where nothing is divided, and whose sum says nothing. */
export const isQuotient = (figure: Figure): boolean => figure.endsWith("Rate") || figure === "ecpmMicros";

/** Whether a figure counts something, so that there are no halves. */
export const isCount = (figure: Figure): boolean => !/Rate$|Micros$/.test(figure);

/** Writes a value of a figure: small shares keep their digits. */
export function useFigureText(currency: string): (figure: Figure, value: number) => string {
  const { number, money } = useFormats();
  const share = new Intl.NumberFormat(useLanguage(), { style: "percent", maximumSignificantDigits: 3 });
  return (figure, value) => {
    if (figure.endsWith("Rate")) return share.format(value);
    return figure.endsWith("Micros") ? money(value, currency) : number(value);
  };
}
