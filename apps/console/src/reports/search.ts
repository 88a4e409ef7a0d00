import { reportAddress } from "@intermission/operator-api/report-address";
import { searchOf } from "../operator/address-search.ts";

export const reportsSearch = searchOf(reportAddress);
export type ReportsSearch = ReturnType<typeof reportsSearch>;
