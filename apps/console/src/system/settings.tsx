import type { System } from "@intermission/operator-api/status";
import { DataTable } from "../ui/data-table.tsx";
import { useWords } from "../words/word-table.ts";
import { systemWords } from "./words.ts";

/** What is in force on the server that answered. A secret is never sent: only whether it is set. */
export function Settings({ settings }: Pick<System, "settings">) {
  const words = useWords(systemWords);
  const valueShown = ({ value, isSecret, isSet }: System["settings"][number]) => {
    if (isSecret) return <span className="pill">{isSet ? words.set : words.notSet}</span>;
    return (
      <span>
        {value || <span className="secondary">{words.noValue}</span>} {!isSet && <small>{words.standard}</small>}
      </span>
    );
  };
  return (
    <section aria-labelledby="settings">
      <div className="list-head">
        <h2 id="settings">{words.settings}</h2>
      </div>
      <DataTable
        label={words.settings}
        rows={settings}
        keyOf={({ name }) => name}
        columns={[
          { title: words.setting, cell: ({ name }) => <code>{name}</code> },
          { title: words.value, cell: valueShown },
        ]}
      />
    </section>
  );
}
