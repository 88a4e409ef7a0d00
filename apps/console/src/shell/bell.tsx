import { alertRoutes } from "@intermission/operator-api/alerts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answerOf } from "../operator/use-operator.ts";
import { Icon } from "../ui/icon.tsx";
import { useWords } from "../words/word-table.ts";
import { bellWords } from "./bell-words.ts";

const EVERY_MS = 60_000;
/** Beyond, “more than” is enough. */
const MAX_SHOWN = 99;

/** Leads to what the person was told, with how much of it is unread. */
export function Bell() {
  const words = useWords(bellWords);
  const alerts = useQuery({
    ...answerOf(alertRoutes.listAlerts, { query: { limit: 1 } }),
    select: ({ unread }) => unread,
    refetchInterval: EVERY_MS,
  });
  const unread = alerts.data ?? 0;
  return (
    <Link to="/alerts" className="button button-quiet bell" aria-label={words.unread(unread)}>
      <Icon name="bell" />
      {unread > 0 && <span className="bell-count">{unread > MAX_SHOWN ? `${MAX_SHOWN}+` : unread}</span>}
    </Link>
  );
}
