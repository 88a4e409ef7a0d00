import type { HttpError } from "@intermission/server/http-server";
import { conflict } from "@intermission/server/refuse";

/** Refusals of payouts, one by one or together. */
export function monthNotOver(month: string): HttpError {
  const message = `${month} is not over, or its last charges have no entries yet: try again later`;
  return conflict("MONTH_NOT_OVER", message, { month });
}

export function otherAmountOwed(owed: string, { month, currency }: { month: string; currency: string }): HttpError {
  const message = `${owed} ${currency} are owed until the end of ${month}: nothing is recorded`;
  return conflict("AMOUNT_NOT_OWED", message, { owed, currency });
}
