import type { System } from "@intermission/operator-api/status";
import { EmptyState } from "../ui/answer-view.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { systemWords } from "./words.ts";

/** Three reports are missing. */
const LOST_MS = 100_000;

/** The servers of the deployment: one that has not reported for a while has ended without a word, or is cut off. */
export function Nodes({ nodes }: Pick<System, "nodes">) {
  const words = useWords(systemWords);
  const { ago, dateTime } = useFormats();
  const time = (at: Date) => (
    <time dateTime={at.toISOString()} title={dateTime(at)}>
      {ago(at)}
    </time>
  );
  const isLost = ({ seenAt }: { seenAt: Date }) => Date.now() - seenAt.getTime() > LOST_MS;
  const versions = new Set(nodes.filter((node) => !isLost(node)).map(({ version }) => version));
  return (
    <section aria-labelledby="nodes">
      <div className="list-head">
        <h2 id="nodes">{words.nodes}</h2>
        {versions.size > 1 && <span className="pill pill-late">{words.severalVersions}</span>}
      </div>
      {nodes.length === 0 ? (
        <EmptyState>{words.noNode}</EmptyState>
      ) : (
        <DataTable
          label={words.nodes}
          rows={nodes}
          keyOf={({ nodeId }) => nodeId}
          columns={[
            { title: words.node, cell: ({ name }) => name },
            { title: words.version, cell: ({ version }) => version },
            { title: words.since, cell: ({ startedAt }) => time(startedAt) },
            {
              title: words.seen,
              cell: (node) =>
                isLost(node) ? <span className="pill pill-late">{time(node.seenAt)}</span> : time(node.seenAt),
            },
          ]}
        />
      )}
    </section>
  );
}
