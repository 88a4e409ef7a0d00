import { type AuditEntry, auditRoutes } from "@intermission/operator-api/audit";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { actorOf, changedFields } from "./audit-entry.ts";
import { useChangeText } from "./change-words.ts";
import { auditWords } from "./words.ts";
import "./audit.css";

/** Their words are those of many screens: they are loaded with the first entry, and without the rest of this screen. */
const FieldRows = lazy(async () => ({ default: (await import("./field-rows.tsx")).FieldRows }));

interface EntryDialogProps {
  entryId: string;
  onClose: () => void;
}

/** A change: who, when, from where, and each field before and after. */
export function EntryDialog({ entryId, onClose }: EntryDialogProps) {
  const words = useWords(auditWords);
  const changeText = useChangeText();
  const read = useAnswer(auditRoutes.listAuditEntries, {
    query: { before: String(BigInt(entryId) + 1n), limit: 1 },
  });
  const entry = read.data?.entries.find((one) => one.entryId === entryId);
  return (
    <Dialog title={entry === undefined ? words.change : changeText(entry.operation)} onClose={onClose}>
      <AnswerView query={read}>
        {() =>
          entry === undefined ? <EmptyState>{words.gone}</EmptyState> : <Entry entry={entry} onClose={onClose} />
        }
      </AnswerView>
    </Dialog>
  );
}

function Entry({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const words = useWords(auditWords);
  const { dateTime } = useFormats();
  const facts = {
    [words.of]: entry.objectId,
    [words.who]: actorOf(entry, words.commandLine),
    [words.at]: dateTime(entry.at),
    [words.from]: entry.address,
    [words.request]: entry.requestId,
  };
  const fields = changedFields(entry);
  return (
    <div className="stack">
      <dl className="entry-facts">
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {fields.length === 0 ? (
        <p className="secondary">{words.noField}</p>
      ) : (
        <table className="states">
          <thead>
            <tr>
              <th scope="col">{words.field}</th>
              <th scope="col">{words.before}</th>
              <th scope="col">{words.after}</th>
            </tr>
          </thead>
          <Suspense fallback={null}>
            <FieldRows objectKind={entry.objectKind} fields={fields} />
          </Suspense>
        </table>
      )}
      <div className="dialog-foot">
        <ObjectLink entry={entry} />
        <RevertButton entry={entry} onClose={onClose} />
      </div>
    </div>
  );
}

function RevertButton({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const words = useWords(auditWords);
  const may = useMay();
  const notice = useNotice();
  const revert = useConfirmedChange(campaignRoutes.revertCampaign, words.revert);
  const { objectKind, objectId, entryId, before, after } = entry;
  // Of other objects nothing is brought back.
  if (objectKind !== "campaign" || before === null || after === null || !may("revertCampaign")) return null;
  const onRevert = () =>
    revert.run({ params: { campaignId: objectId }, body: { entryId } }, () => {
      onClose();
      notice({ text: words.reverted });
    });
  return (
    <>
      <Button look="primary" isBusy={revert.isPending} onClick={() => void onRevert()}>
        {words.revert}
      </Button>
      {revert.dialog}
    </>
  );
}

function ObjectLink({ entry: { objectKind, objectId } }: { entry: AuditEntry }) {
  const words = useWords(auditWords);
  const look = "button button-plain";
  switch (objectKind) {
    case "campaign":
      return (
        <Link to="/campaigns/$campaignId" params={{ campaignId: objectId }} className={look}>
          {words.open}
        </Link>
      );
    case "bot":
    case "endpoint":
      return (
        <Link to="/bots/$botId" params={{ botId: objectId }} className={look}>
          {words.open}
        </Link>
      );
    case "buyer":
      return (
        <Link to="/buyers/$buyerId" params={{ buyerId: objectId }} className={look}>
          {words.open}
        </Link>
      );
    case "advertiser":
      return (
        <Link to="/advertisers/$advertiserId" params={{ advertiserId: objectId }} className={look}>
          {words.open}
        </Link>
      );
    case "bought-creative":
    case "creative":
    case "notices":
    case "person":
    case "view":
    case "click":
    case "conversion":
    case "delivery":
    case "deployment":
    case "saved-report":
    case "sample":
    case "task-bot":
    case "task-channel":
    case "party":
      return null;
    case "payout-run":
      return (
        <Link to="/payouts" className={look}>
          {words.open}
        </Link>
      );
    case "money-request":
      return (
        <Link to="/approvals" className={look}>
          {words.open}
        </Link>
      );
    default:
      return objectKind satisfies never;
  }
}
