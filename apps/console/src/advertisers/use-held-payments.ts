import { heldPaymentRoutes } from "@intermission/operator-api/held-payments";
import { useQuery } from "@tanstack/react-query";
import { answerOf } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";

/** More are listed by the command line. */
const MAX_LISTED = 100;

/** Reported payments that wait for a decision. */
export function useHeldPayments() {
  const may = useMay();
  const query = { state: "open", limit: MAX_LISTED } as const;
  return useQuery({ ...answerOf(heldPaymentRoutes.listHeldPayments, { query }), enabled: may("listHeldPayments") });
}
