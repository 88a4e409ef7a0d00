import {
  type MailSchedule,
  mailIntervals,
  type SavedReport,
  savedReportRoutes,
} from "@intermission/operator-api/saved-reports";
import { useId, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { reportWords } from "./words.ts";
import { ZoneField } from "./zone-field.tsx";

const hours = Array.from({ length: 24 }, (_, hour) => hour);

type Times = Pick<MailSchedule, "every" | "hour" | "timeZone" | "hasCsv">;

interface MailDialogProps {
  report: SavedReport;
  canMail: boolean;
  onClose: () => void;
}

/** When a saved report is mailed to the person. */
export function MailDialog({ report, canMail, onClose }: MailDialogProps) {
  const { mail } = useWords(reportWords);
  const { cancel } = useWords(uiWords);
  const { savedReportId, name, mails } = report;
  const { dateTime } = useFormats();
  const notice = useNotice();
  const set = useConfirmedChange(savedReportRoutes.mailSavedReport);
  const stop = useConfirmedChange(savedReportRoutes.stopMailingReport);
  const [times, setTimes] = useState<Times>(() => ({
    every: mails?.every ?? "day",
    hour: mails?.hour ?? 8,
    timeZone: mails?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    hasCsv: mails?.hasCsv ?? false,
  }));
  const params = { savedReportId };
  const submit = () =>
    set.run({ params, body: times }, (saved) => {
      onClose();
      notice({ text: mail.saved({ name, time: saved.mails?.nextAt ? dateTime(saved.mails.nextAt) : "" }) });
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
        {canMail && <TimesFields times={times} faults={set.faults} onChange={setTimes} />}
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

interface TimesFieldsProps {
  times: Times;
  faults: Readonly<Partial<Record<keyof Times, string>>>;
  onChange: (times: Times) => void;
}

function TimesFields({ times, faults, onChange }: TimesFieldsProps) {
  const { mail } = useWords(reportWords);
  const csvHint = useId();
  return (
    <>
      <div className="two">
        <Field label={mail.every} fault={faults.every}>
          {(control) => (
            <select
              {...control}
              value={times.every}
              onChange={({ target }) =>
                onChange({ ...times, every: mailIntervals.find((one) => one === target.value) ?? "day" })
              }
            >
              {mailIntervals.map((one) => (
                <option key={one} value={one}>
                  {mail.intervals[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={mail.hour} fault={faults.hour}>
          {(control) => (
            <select
              {...control}
              value={times.hour}
              onChange={({ target }) => onChange({ ...times, hour: Number(target.value) })}
            >
              {hours.map((one) => (
                <option key={one} value={one}>
                  {`${String(one).padStart(2, "0")}:00`}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label={mail.zone} fault={faults.timeZone}>
        {({ id }) => (
          <ZoneField id={id} zone={times.timeZone} onChange={(timeZone) => onChange({ ...times, timeZone })} />
        )}
      </Field>
      <div className="choices">
        <label>
          <input
            type="checkbox"
            aria-describedby={csvHint}
            checked={times.hasCsv}
            onChange={({ target }) => onChange({ ...times, hasCsv: target.checked })}
          />
          {mail.csv}
        </label>
        <p id={csvHint} className="hint">
          {mail.csvHint}
        </p>
      </div>
    </>
  );
}

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
