import type { BulkDecision } from "@intermission/operator-api/reviews";
import { type BulkAnswer, clickRoutes, viewRoutes } from "@intermission/operator-api/reviews";
import { useState } from "react";
import { useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import type { ReviewState, ReviewsSearch } from "./search.ts";
import { filterOf, type Reviewed } from "./use-reviews.ts";
import { reviewWords } from "./words.ts";

/** What can be decided about a view or a click in a state. */
const decisionsOf = {
  held: ["release", "refuse"],
  refused: [],
  paid: ["refund"],
} satisfies Record<ReviewState, readonly BulkDecision[]>;

const accessNames = {
  release: "releaseViews",
  refuse: "refuseViews",
  refund: "refundViews",
} as const satisfies Record<BulkDecision, string>;

interface BulkProps {
  search: ReviewsSearch;
  /** What of it is shown. */
  rows: readonly Reviewed[];
}

/** Decides all that match the filters: the server counts them first, says what they cost, and asks. */
export function BulkButtons(props: BulkProps) {
  const { search } = props;
  const may = useMay();
  const isOfClicks = search.of === "clicks";
  const offered = decisionsOf[search.state ?? "held"].filter((decision) => may(accessNames[decision]));
  return (
    <>
      {offered.map((decision) => (
        <BulkButton key={`${decision} ${isOfClicks}`} decision={decision} {...props} />
      ))}
    </>
  );
}

const bulkRoutes = {
  views: { release: viewRoutes.releaseViews, refuse: viewRoutes.refuseViews, refund: viewRoutes.refundViews },
  clicks: { release: clickRoutes.releaseClicks, refuse: clickRoutes.refuseClicks, refund: clickRoutes.refundClicks },
};

type BulkBody = ReturnType<typeof filterOf> & { to: string };

function BulkButton({ decision, search, rows }: BulkProps & { decision: BulkDecision }) {
  const words = useWords(reviewWords);
  const { number } = useFormats();
  const notice = useNotice();
  const [left, setLeft] = useState<number>();
  const { run, isPending, dialog } = useConfirmedChange(
    bulkRoutes[search.of ?? "views"][decision],
    words[`${decision}All`],
  );
  const start = () => {
    // What comes after it was counted was not confirmed, and waits. The clock of the reader may be behind that of the server.
    const until = Math.max(Date.now(), ...rows.map(({ at }) => (at?.getTime() ?? 0) + 1));
    const body = { ...filterOf(search), to: new Date(until).toISOString() };
    void run({ body }, (answer) => void goOn(body, answer));
  };
  /** One request decides some hundred; the confirmation covers all of them. */
  const goOn = async (body: BulkBody, answer: BulkAnswer, before = { decided: 0, skipped: 0 }): Promise<void> => {
    const sum = { decided: before.decided + answer.decided, skipped: before.skipped + answer.skipped };
    const isOver = answer.left === 0 || answer.decided + answer.skipped === 0;
    setLeft(isOver ? undefined : answer.left);
    if (!isOver) {
      const next = await run({ body, query: { confirmed: true } });
      if (next !== undefined) return goOn(body, next, sum);
      // Its refusal was said; the button may be pressed again for those that are left.
      setLeft(undefined);
      return;
    }
    const skipped = sum.skipped > 0 ? ` ${words.skipped(sum.skipped)}` : "";
    notice({ text: sum.decided + sum.skipped === 0 ? words.noneOf : `${words.doneAll(sum.decided)}${skipped}` });
  };
  return (
    <>
      <Button
        look={decision === "refuse" ? "danger" : "plain"}
        isBusy={isPending || left !== undefined}
        onClick={start}
      >
        {words[`${decision}All`]}
        {left !== undefined && ` · ${words.progress(number(left))}`}
      </Button>
      {dialog}
    </>
  );
}

/** Decides one view or click. */
export function RowButtons({ row, isClick }: { row: Reviewed; isClick: boolean }) {
  const may = useMay();
  const offered = decisionsOf[row.state].filter((decision) => may(accessNames[decision]));
  if (row.refundedAt !== null) return null;
  return (
    <span className="row-actions">
      {offered.map((decision) =>
        isClick ? (
          <ClickButton key={decision} decision={decision} clickId={row.id} />
        ) : (
          <ViewButton key={decision} decision={decision} sessionId={row.id} />
        ),
      )}
    </span>
  );
}

const viewDecisions = {
  release: viewRoutes.releaseView,
  refuse: viewRoutes.refuseView,
  refund: viewRoutes.refundView,
};

function ViewButton({ decision, sessionId }: { decision: BulkDecision; sessionId: string }) {
  const change = useChange(viewDecisions[decision]);
  return (
    <DecideButton
      decision={decision}
      id={sessionId}
      isBusy={change.isPending}
      decide={() => change.mutateAsync({ params: { sessionId } })}
    />
  );
}

const clickDecisions = {
  release: clickRoutes.releaseClick,
  refuse: clickRoutes.refuseClick,
  refund: clickRoutes.refundClick,
};

function ClickButton({ decision, clickId }: { decision: BulkDecision; clickId: string }) {
  const change = useChange(clickDecisions[decision]);
  return (
    <DecideButton
      decision={decision}
      id={clickId}
      isBusy={change.isPending}
      decide={() => change.mutateAsync({ params: { clickId } })}
    />
  );
}

interface DecideButtonProps {
  decision: BulkDecision;
  id: string;
  isBusy: boolean;
  decide: () => Promise<unknown>;
}

/** Asks first: none of the three can be taken back. */
function DecideButton({ decision, id, isBusy, decide }: DecideButtonProps) {
  const words = useWords(reviewWords);
  const { cancel } = useWords(uiWords);
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const [isOpen, setOpen] = useState(false);
  const label = words[`${decision}Of`](id);
  const onConfirm = async () => {
    setOpen(false);
    try {
      await decide();
      notice({ text: words.done[decision] });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      onFailed(error);
    }
  };
  return (
    <>
      <Button look="quiet" isBusy={isBusy} aria-label={label} onClick={() => setOpen(true)}>
        {words[decision]}
      </Button>
      {isOpen && (
        <Dialog title={label} onClose={() => setOpen(false)}>
          <p>{words.effect[decision]}</p>
          <div className="dialog-foot">
            <Button onClick={() => setOpen(false)}>{cancel}</Button>
            <Button look={decision === "release" ? "primary" : "danger"} onClick={() => void onConfirm()}>
              {words[decision]}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
