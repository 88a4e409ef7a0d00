import { type SavedReport, savedReportRoutes } from "@intermission/operator-api/saved-reports";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useRef, useState } from "react";
import { parseAddress, writeAddress } from "../operator/address-search.ts";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { withView } from "./columns.ts";
import { type ReportsSearch, reportsSearch } from "./search.ts";
import { reportWords } from "./words.ts";

const MailDialog = lazy(async () => ({ default: (await import("./mail-dialog.tsx")).MailDialog }));

/**
 * The reports that the person has saved, as links, and a button that saves the present one. What is saved is the address in its
 * versioned form: one from before a release still opens, and one whose range moves with the calendar is of the latest days
 * whenever it is opened.
 */
export function SavedReports({ search }: { search: ReportsSearch }) {
  const words = useWords(reportWords);
  const [isSaving, setSaving] = useState(false);
  const list = useRef<HTMLElement>(null);
  const saved = useAnswer(savedReportRoutes.listSavedReports);
  const address = textOfSearch(search);
  const isOpen = (report: SavedReport) => textOfSearch(searchOfSaved(report)) === address;
  const reports = saved.data?.savedReports ?? [];
  const may = useMay();
  return (
    <nav className="saved-reports" aria-label={words.saved} ref={list} tabIndex={-1}>
      {reports.length > 0 && (
        <ul>
          {reports.map((report) => (
            <li key={report.savedReportId} className="saved-report">
              <Link to="/reports" search={searchOfSaved(report)} activeOptions={{ exact: true, includeSearch: true }}>
                {report.name}
              </Link>
              {may("mailSavedReport") && <MailButton report={report} canMail={saved.data?.canMail ?? false} />}
              {may("removeSavedReport") && <RemoveButton report={report} onRemoved={() => list.current?.focus()} />}
            </li>
          ))}
        </ul>
      )}
      {may("saveReport") && saved.data !== undefined && !reports.some(isOpen) && (
        <Button look="quiet" icon="add" onClick={() => setSaving(true)}>
          {words.save}
        </Button>
      )}
      {isSaving && <SaveDialog address={address} onClose={() => setSaving(false)} />}
    </nav>
  );
}

/** `reportsSearch` reads the fields in one order, so that two addresses of one report are equal. */
const textOfSearch = (search: ReportsSearch) => writeAddress(reportsSearch(withView(search))).slice(1);

const searchOfSaved = ({ search }: Pick<SavedReport, "search">) => withView(reportsSearch(parseAddress(search)));

function SaveDialog({ address, onClose }: { address: string; onClose: () => void }) {
  const words = useWords(reportWords);
  const notice = useNotice();
  const save = useConfirmedChange(savedReportRoutes.saveReport);
  const [name, setName] = useState("");
  const submit = () =>
    save.run({ body: { name, search: address } }, () => {
      onClose();
      notice({ text: words.savedAs(name.trim()) });
    });
  return (
    <FormDialog
      title={words.save}
      submitText={words.saveIt}
      isBusy={save.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.savedName} hint={words.savedHint} fault={save.faults.name}>
        {(control) => (
          <input {...control} value={name} maxLength={60} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
    </FormDialog>
  );
}

function MailButton({ report, canMail }: { report: SavedReport; canMail: boolean }) {
  const { mail } = useWords(reportWords);
  const [isOpen, setOpen] = useState(false);
  const isMailed = (report.mails?.nextAt ?? null) !== null;
  return (
    <>
      <button
        type="button"
        className={isMailed ? "is-mailed" : undefined}
        aria-label={mail.button(report.name)}
        title={mail.button(report.name)}
        onClick={() => setOpen(true)}
      >
        <Icon name="mail" />
      </button>
      <Suspense>{isOpen && <MailDialog report={report} canMail={canMail} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}

interface RemoveButtonProps {
  report: SavedReport;
  /** The button is gone with its report, so the focus moves here. */
  onRemoved: () => void;
}

function RemoveButton({ report: { savedReportId, name, search, mails }, onRemoved }: RemoveButtonProps) {
  const words = useWords(reportWords);
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const remove = useChange(savedReportRoutes.removeSavedReport);
  const saveAgain = useChange(savedReportRoutes.saveReport);
  const failed = (error: unknown) => {
    if (!(error instanceof Error)) throw error;
    onFailed(error);
  };
  const undo = async () => {
    await saveAgain.mutateAsync({ body: { name, search } });
    // The links of earlier mails were removed with the report, so they could not unsubscribe from resumed mails.
    if ((mails?.nextAt ?? null) !== null) notice({ text: words.savedUnmailed(name) });
  };
  const onRemove = () =>
    remove
      .mutateAsync({ params: { savedReportId } })
      .then(() => {
        onRemoved();
        notice({
          text: words.removed(name),
          onUndo: () => void undo().catch(failed),
        });
      })
      .catch(failed);
  return (
    <button type="button" aria-label={words.remove(name)} aria-busy={remove.isPending} onClick={() => void onRemove()}>
      <Icon name="close" />
    </button>
  );
}
