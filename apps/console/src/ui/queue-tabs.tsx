import { Link } from "@tanstack/react-router";
import { queueWords } from "../words/queue-words.ts";
import { useWords } from "../words/word-table.ts";

/** Tabs of the queues for approval: creatives and campaigns. */
export function QueueTabs() {
  const { queue, creatives, campaigns } = useWords(queueWords);
  const look = { className: "button button-plain", activeOptions: { exact: true } };
  return (
    <nav className="row queue-tabs" aria-label={queue}>
      <Link to="/approval" {...look}>
        {creatives}
      </Link>
      <Link to="/approval/campaigns" {...look}>
        {campaigns}
      </Link>
    </nav>
  );
}
