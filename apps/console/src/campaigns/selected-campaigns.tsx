import { type RefObject, useEffect, useRef, useState } from "react";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useKeptFocus } from "../ui/use-kept-focus.ts";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import type { ListedCampaign } from "./campaign-columns.tsx";
import { type Verb, verbs } from "./change-each.ts";
import { useMayArchive, useMayResume, useStatusChanges } from "./use-status-changes.ts";
import { campaignWords } from "./words.ts";

/** As many names as the question shows. */
const NAMED = 5;

/** Which of some campaigns each verb changes, as far as the person may. */
function useChangeable(campaigns: readonly ListedCampaign[]): Record<Verb, ListedCampaign[]> {
  const may = useMay();
  const mayResume = useMayResume();
  const mayArchive = useMayArchive();
  return {
    pause: may("pauseCampaign") ? campaigns.filter(({ status }) => status === "active") : [],
    resume: campaigns.filter(mayResume),
    archive: campaigns.filter(mayArchive),
  };
}

interface SelectedCampaignsProps {
  campaigns: readonly ListedCampaign[];
  /** Where the focus goes from a button that is gone. */
  table: RefObject<HTMLElement | null>;
  onClear: () => void;
}

/** What can be done with the selected campaigns, if there are any. Each button says of how many, and asks before it changes them. */
export function SelectedCampaigns({ campaigns, table, onClear }: SelectedCampaignsProps) {
  const words = useWords(campaignWords);
  const { clear } = useWords(uiWords);
  const changeable = useChangeable(campaigns);
  const [requested, setRequested] = useState<Verb>();
  const keptFocus = useKeptFocus(table);
  if (campaigns.length === 0) {
    // The question is gone with them.
    if (requested !== undefined) setRequested(undefined);
    return null;
  }
  return (
    <section className="selection" {...keptFocus} aria-label={words.selected(campaigns.length)}>
      <strong role="status">{words.selected(campaigns.length)}</strong>
      <span className="list-actions">
        {verbs.map(
          (verb) =>
            changeable[verb].length > 0 && (
              <Button key={verb} look={verb === "archive" ? "danger" : "plain"} onClick={() => setRequested(verb)}>
                {words[`${verb}Count`](changeable[verb].length)}
              </Button>
            ),
        )}
        <Button look="quiet" onClick={onClear}>
          {clear}
        </Button>
      </span>
      {requested && (
        <Question
          verb={requested}
          campaigns={changeable[requested]}
          leftOut={campaigns.length - changeable[requested].length}
          onClose={() => setRequested(undefined)}
        />
      )}
    </section>
  );
}

interface QuestionProps {
  verb: Verb;
  campaigns: readonly ListedCampaign[];
  leftOut: number;
  onClose: () => void;
}

function Question({ verb, campaigns: counted, leftOut, onClose }: QuestionProps) {
  const words = useWords(campaignWords);
  const { cancel, stop, andMore, doneOf } = useWords(uiWords);
  const { changeAll } = useStatusChanges();
  const [done, setDone] = useState<number>();
  // What was counted when it was requested: the list is read again meanwhile.
  const [campaigns] = useState(counted);
  const title = words[`${verb}Count`](campaigns.length);
  const running = useRef<AbortController>(undefined);
  // However it is closed, it stops.
  useEffect(() => () => running.current?.abort(), []);
  const start = async () => {
    const stopping = new AbortController();
    running.current = stopping;
    setDone(0);
    await changeAll(verb, campaigns, { onProgress: setDone, signal: stopping.signal });
    // Closed before, another question may be open.
    if (!stopping.signal.aborted) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <ul>
        {campaigns.slice(0, NAMED).map(({ campaignId, name }) => (
          <li key={campaignId}>{name}</li>
        ))}
        {campaigns.length > NAMED && <li>{andMore(campaigns.length - NAMED)}</li>}
      </ul>
      {leftOut > 0 && <p className="secondary">{words.leftOut(leftOut)}</p>}
      {verb === "archive" && <p>{words.archiveForGood}</p>}
      <div className="dialog-foot">
        <Button onClick={onClose}>{done === undefined ? cancel : stop}</Button>
        <Button
          look={verb === "archive" ? "danger" : "primary"}
          isBusy={done !== undefined}
          onClick={() => done === undefined && void start()}
        >
          {title}
          {done !== undefined && ` · ${doneOf({ done, of: campaigns.length })}`}
        </Button>
      </div>
    </Dialog>
  );
}
