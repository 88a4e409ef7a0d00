import { deliveryRoutes } from "@intermission/operator-api/deliveries";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { answerOf } from "../operator/use-operator.ts";
import { AnswerView, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { fromLocalInput, toLocalInput } from "../ui/local-time.ts";
import { MomentField } from "../ui/moment-field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { botWords } from "./words.ts";

const DAY_MS = 86_400_000;

export function ResendButton({ botId, name }: { botId: string; name: string }) {
  const words = useWords(botWords);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button aria-label={words.resendOfBot(name)} onClick={() => setOpen(true)}>
        {words.resend}
      </Button>
      {isOpen && <ResendDialog botId={botId} name={name} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Whether the window was closed meanwhile. */
function useIsClosed() {
  const isClosed = useRef(false);
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  return isClosed;
}

/** Sends again what failed since a moment, all of it: counted first, then in batches with their progress, until it is closed. */
function ResendDialog({ botId, name, onClose }: { botId: string; name: string; onClose: () => void }) {
  const words = useWords(botWords);
  const { cancel, stop } = useWords(uiWords);
  const { number, date } = useFormats();
  const queries = useQueryClient();
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const [since, setSince] = useState(() => toLocalInput(new Date(Date.now() - DAY_MS)));
  const [done, setDone] = useState<number>();
  const isClosed = useIsClosed();
  const from = fromLocalInput(since);
  const counted = useQuery({
    ...answerOf(deliveryRoutes.countReplayable, {
      params: { botId },
      query: { scope: "failed", since: from ?? "" },
    }),
    enabled: from !== null,
    staleTime: 0,
  });
  const send = async ({ count, until }: { count: number; until: Date }) => {
    if (from === null) return;
    let replayed = 0;
    let after: string | null = null;
    try {
      setDone(0);
      do {
        const body = { scope: "failed" as const, since: from, until: until.toISOString(), after };
        const batch: { replayed: number; next: string | null } = await callOperator(deliveryRoutes.replayDeliveries, {
          params: { botId },
          body,
        });
        replayed += batch.replayed;
        after = batch.next;
        setDone(Math.min(replayed, count));
      } while (after !== null && !isClosed.current);
      notice({ text: (after === null ? words.resendDone : words.resendStopped)(number(replayed)) });
      onClose();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      onFailed(error);
      setDone(undefined);
    } finally {
      await queries.invalidateQueries();
    }
  };
  return (
    <Dialog title={words.resendOfBot(name)} onClose={onClose}>
      <MomentField label={words.resendSince} text={since} onText={setSince} />
      <AnswerView query={counted} rows={1}>
        {({ count, unknown, isMore, until, keptSince }) => {
          const shown = `${number(count)}${isMore ? "+" : ""}`;
          return (
            <>
              <p role="status">
                {done !== undefined
                  ? words.resendProgress({ done: number(done), all: shown })
                  : count === 0
                    ? words.resendNone
                    : words.resendCount(shown)}
              </p>
              {unknown > 0 && <p className="secondary">{words.resendUnknown(number(unknown))}</p>}
              {keptSince !== null && <p className="secondary">{words.resendKept(date(keptSince))}</p>}
              <div className="dialog-foot">
                <Button onClick={onClose}>{done === undefined ? cancel : stop}</Button>
                {count > 0 && (
                  <Button look="primary" isBusy={done !== undefined} onClick={() => void send({ count, until })}>
                    {words.resendNow(shown)}
                  </Button>
                )}
              </div>
            </>
          );
        }}
      </AnswerView>
    </Dialog>
  );
}
