import { type AuditEntry, auditRoutes } from "@intermission/operator-api/audit";
import { csvOf } from "@intermission/operator-api/csv";
import { objectKinds } from "@intermission/operator-api/object-kinds";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { AnswerView, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { saveCsv } from "../ui/csv.ts";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { actorOf } from "./audit-entry.ts";
import { changeWords, useChangeText } from "./change-words.ts";
import { EntryDialog } from "./entry-dialog.tsx";
import { auditWords, kindWords } from "./words.ts";

const route = getRouteApi("/shell/audit");

/** Who changed what, the latest first: filtered, opened with before and after, and reverted. */
export function AuditScreen() {
  const words = useWords(auditWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { find, change, kind, object, actor } = search;
  const filters = { text: find, operation: change, objectKind: kind, objectId: object, actor };
  const pages = usePages([auditRoutes.listAuditEntries.path, filters], (before, signal) =>
    callOperator(auditRoutes.listAuditEntries, { query: { ...filters, before } }, signal),
  );
  const open = (entry: string | undefined) => void navigate({ search: { ...search, entry } });
  const columns = useColumns(open);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Page title={words.audit}>
      <Filters view={<ListView list="audit" columns={columns} />} />
      <AnswerView query={pages} rows={6}>
        {({ pages: read }) => {
          const rows = read.flatMap(({ entries }) => entries);
          if (rows.length === 0)
            return (
              <EmptyState action={isFiltered && <ShowAll />}>{isFiltered ? words.noMatch : words.none}</EmptyState>
            );
          return (
            <>
              <DataTable
                list="audit"
                label={words.audit}
                columns={columns}
                rows={rows}
                pages={pages}
                keyOf={({ entryId }) => entryId}
              />
              <div className="row list-more">
                <Button onClick={() => saveCsv("audit.csv", entriesCsv(rows))}>{words.csv}</Button>
              </div>
            </>
          );
        }}
      </AnswerView>
      {search.entry !== undefined && <EntryDialog entryId={search.entry} onClose={() => open(undefined)} />}
    </Page>
  );
}

function Filters({ view }: { view: ReactNode }) {
  const words = useWords(auditWords);
  const language = useLanguage();
  const kinds = kindWords[language];
  const changes = useMemo(
    () =>
      Object.entries(changeWords[language])
        .map(([value, text]) => ({ value, text }))
        .sort((one, other) => one.text.localeCompare(other.text, language)),
    [language],
  );
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  return (
    <div className="list-head">
      {(["find", "object", "actor"] as const).map((field) => (
        <SearchField
          key={field}
          label={words[field]}
          value={search[field] ?? ""}
          onChange={(text) => filter({ [field]: text || undefined })}
        />
      ))}
      <FilterSelect
        label={words.kind}
        value={search.kind}
        all={words.allKinds}
        options={objectKinds.map((kind) => ({ value: kind, text: kinds[kind] }))}
        onChange={(kind) => filter({ kind })}
      />
      <FilterSelect
        label={words.change}
        value={search.change}
        all={words.allChanges}
        options={changes}
        onChange={(change) => filter({ change })}
      />
      <span className="list-actions">{view}</span>
    </div>
  );
}

function useColumns(onOpen: (entryId: string) => void): Column<AuditEntry>[] {
  const words = useWords(auditWords);
  const changeText = useChangeText();
  const kinds = kindWords[useLanguage()];
  const { dateTime, ago } = useFormats();
  return [
    {
      id: "change",
      title: words.change,
      cell: ({ entryId, operation }) => (
        <button type="button" className="link row-link" onClick={() => onOpen(entryId)}>
          {changeText(operation)}
        </button>
      ),
    },
    {
      id: "of",
      title: words.of,
      cell: ({ objectKind, objectId, objectName }) => (
        <span>
          {objectName ?? objectId} <small>{kinds[objectKind]}</small>
        </span>
      ),
    },
    { id: "who", title: words.who, cell: (entry) => actorOf(entry, words.commandLine) },
    {
      id: "at",
      title: words.at,
      cell: ({ at }) => (
        <time dateTime={at.toISOString()} title={dateTime(at)}>
          {ago(at)}
        </time>
      ),
    },
  ];
}

function entriesCsv(rows: readonly AuditEntry[]): string {
  const json = (state: AuditEntry["before"]) => (state === null ? null : JSON.stringify(state));
  return csvOf([
    [
      "entry",
      "at",
      "actor",
      "name",
      "operation",
      "kind",
      "object",
      "object name",
      "address",
      "request",
      "before",
      "after",
    ],
    ...rows.map((row) => [
      row.entryId,
      row.at,
      row.actor,
      row.actorName,
      row.operation,
      row.objectKind,
      row.objectId,
      row.objectName,
      row.address,
      row.requestId,
      json(row.before),
      json(row.after),
    ]),
  ]);
}
