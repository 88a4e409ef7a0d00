import { type MailSchedule, type SavedReport, savedReportRoutes } from "@intermission/operator-api/saved-reports";
import { useId } from "react";
import type { ControlProps } from "../forms/checks-box.tsx";
import { FormSections } from "../forms/form-sections.tsx";
import type { FormWords } from "../forms/form-words.ts";
import { useSubmit, useTypedForm } from "../forms/typed-form.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { loadWords } from "../words/catalog.ts";
import { useFormats } from "../words/formats.ts";
import type { Language } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";
import { type MailField, mailForm, mailValues } from "./mail-form.ts";
import { reportWords } from "./words.ts";
import { ZoneField } from "./zone-field.tsx";

const hours = Array.from({ length: 24 }, (_, hour) => hour);

const mailFormWords = loadWords("mailForm") satisfies Record<Language, FormWords<MailField>>;

interface MailDialogProps {
  report: SavedReport;
  canMail: boolean;
  onClose: () => void;
}

/** When a saved report is mailed to the person. */
export function MailDialog({ report, canMail, onClose }: MailDialogProps) {
  const { mail } = useWords(reportWords);
  const words = useWords(mailFormWords);
  const { cancel } = useWords(uiWords);
  const { savedReportId, name, mails } = report;
  const { dateTime } = useFormats();
  const notice = useNotice();
  const set = useConfirmedChange(savedReportRoutes.mailSavedReport);
  const stop = useConfirmedChange(savedReportRoutes.stopMailingReport);
  const form = useTypedForm(mailForm, { initial: mailValues(mails), serverFaults: set.faults });
  const params = { savedReportId };
  const submit = useSubmit(form, {
    schema: savedReportRoutes.mailSavedReport.body,
    onBody: (body) =>
      set.run({ params, body }, (saved) => {
        onClose();
        notice({ text: mail.saved({ name, time: saved.mails?.nextAt ? dateTime(saved.mails.nextAt) : "" }) });
      }),
  });
  const onStop = () =>
    stop.run({ params }, () => {
      onClose();
      notice({ text: mail.stopped(name) });
    });
  return (
    <Dialog title={mail.title(name)} onClose={onClose}>
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (canMail && !set.isPending) void submit();
        }}
      >
        <p className="secondary">{canMail ? mail.about : mail.noServer}</p>
        {mails && <MailStatus mails={mails} />}
        {canMail && <FormSections form={form} words={words} controls={controls} hasFocus />}
        <div className="dialog-foot">
          {mails?.nextAt && (
            <Button look="quiet" isBusy={stop.isPending} onClick={() => void onStop()}>
              {mail.stop}
            </Button>
          )}
          <Button onClick={onClose}>{cancel}</Button>
          {canMail && (
            <Button look="primary" type="submit" isBusy={set.isPending}>
              {mail.save}
            </Button>
          )}
        </div>
      </form>
      {set.dialog}
      {stop.dialog}
    </Dialog>
  );
}

function HourControl({ form, field, label, hint, fault }: ControlProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <select {...control} {...form.methods.register(field.name)}>
          {hours.map((one) => (
            <option key={one} value={one}>
              {`${String(one).padStart(2, "0")}:00`}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function ZoneControl({ form, field, label, hint, fault }: ControlProps) {
  const choose = (zone: string) => form.methods.setValue(field.name, zone);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {({ id }) => <ZoneField id={id} zone={String(form.values[field.name])} onChange={choose} />}
    </Field>
  );
}

function CsvControl({ form, field, label, hint }: ControlProps) {
  const id = useId();
  return (
    <div className="choices">
      <label>
        <input type="checkbox" aria-describedby={id} {...form.methods.register(field.name)} />
        {label}
      </label>
      <p id={id} className="hint">
        {hint}
      </p>
    </div>
  );
}

const controls = { hour: HourControl, timeZone: ZoneControl, hasCsv: CsvControl };

function MailStatus({ mails: { nextAt, ended, last } }: { mails: MailSchedule }) {
  const { mail } = useWords(reportWords);
  const { dateTime } = useFormats();
  return (
    <p className="small">
      {ended === null ? nextAt && mail.next(dateTime(nextAt)) : mail.ended[ended]}
      {last && (
        <>
          <br />
          {mail.last({ time: dateTime(last.dueAt), state: mail.states[last.state] })}
        </>
      )}
    </p>
  );
}
