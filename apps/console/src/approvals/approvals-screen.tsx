import { type MoneyRequest, moneyRequestRoutes } from "@intermission/operator-api/money-requests";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { PAGE_ROWS, rowsOf, usePages } from "../operator/use-pages.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { RequestValues, useRequestTitle } from "./request-values.tsx";
import { decidedStates } from "./search.ts";
import { approvalWords } from "./words.ts";

/** A form is loaded when it is opened. */
const AmountDialog = lazy(async () => ({ default: (await import("./amount-dialog.tsx")).AmountDialog }));
const ApproveDialog = lazy(async () => ({ default: (await import("./decide-dialogs.tsx")).ApproveDialog }));
const RefuseDialog = lazy(async () => ({ default: (await import("./decide-dialogs.tsx")).RefuseDialog }));

const route = getRouteApi("/shell/approvals");
const { listMoneyRequests } = moneyRequestRoutes;

/** Credit, payments, corrections and payouts that a second person approves, and above which amount. */
export function ApprovalsScreen() {
  const words = useWords(approvalWords);
  const search = route.useSearch();
  const { state = "waiting" } = search;
  const navigate = route.useNavigate();
  const pages = usePages([listMoneyRequests.path, state], (after, signal) =>
    callOperator(listMoneyRequests, { query: { state, after, limit: PAGE_ROWS } }, signal),
  );
  const [decision, setDecision] = useState<Decision>();
  const columns = useColumns(setDecision);
  const onClose = () => setDecision(undefined);
  return (
    <Page title={words.approvals}>
      <div className="stack">
        <Amount />
        <div className="list-head">
          <FilterSelect
            label={words.state}
            value={search.state}
            all={words.states.waiting}
            options={decidedStates.map((one) => ({ value: one, text: words.states[one] }))}
            onChange={(one) => void navigate({ search: { state: one }, replace: true })}
          />
        </div>
        <AnswerView query={pages}>
          {({ pages: read }) => (
            <DataTable
              label={words.approvals}
              columns={columns}
              rows={rowsOf(
                read.map(({ requests }) => requests),
                ({ requestId }) => requestId,
              )}
              pages={pages}
              keyOf={({ requestId }) => requestId}
              empty={<EmptyState>{state === "waiting" ? words.none : words.noneOfState}</EmptyState>}
            />
          )}
        </AnswerView>
        <Suspense>
          {decision?.kind === "approve" && <ApproveDialog request={decision.request} onClose={onClose} />}
          {(decision?.kind === "refuse" || decision?.kind === "withdraw") && (
            <RefuseDialog request={decision.request} isOwn={decision.kind === "withdraw"} onClose={onClose} />
          )}
        </Suspense>
      </div>
    </Page>
  );
}

/** The setting. Owners change it. */
function Amount() {
  const words = useWords(approvalWords);
  const { exactMoney } = useFormats();
  const mayChange = useMay()("setApprovalAmount");
  const amount = useAnswer(moneyRequestRoutes.showApprovalAmount);
  const [isOpen, setOpen] = useState(false);
  return (
    <AnswerView query={amount} rows={1}>
      {(stored) => (
        <div className="row">
          <p>{stored.aboveMicros === null ? words.off : words.on(exactMoney(stored.aboveMicros, stored.currency))}</p>
          {mayChange && <Button onClick={() => setOpen(true)}>{words.setAmount}</Button>}
          <Suspense>{isOpen && <AmountDialog stored={stored} onClose={() => setOpen(false)} />}</Suspense>
        </div>
      )}
    </AnswerView>
  );
}

interface Decision {
  kind: "approve" | "refuse" | "withdraw";
  request: MoneyRequest;
}

function useColumns(onDecide: (decision: Decision) => void): Column<MoneyRequest>[] {
  const words = useWords(approvalWords);
  const { dateTime } = useFormats();
  const titleOf = useRequestTitle();
  return [
    { title: words.what, cell: titleOf },
    { title: words.values, cell: (request) => <RequestValues request={request} /> },
    {
      title: words.requested,
      cell: ({ requestedAt, requestedBy, secondedBy }) => (
        <>
          {requestedBy ?? words.commandLine}
          <br />
          <small>{dateTime(requestedAt)}</small>
          {secondedBy !== null && <small> {words.secondedBy(secondedBy)}</small>}
        </>
      ),
    },
    {
      title: words.state,
      cell: ({ state, decidedBy, decidedAt, reason }) => (
        <>
          {words.states[state]}
          {decidedAt && (
            <>
              <br />
              <small>
                {decidedBy ?? words.commandLine}, {dateTime(decidedAt)}
              </small>
            </>
          )}
          {reason !== null && <p>{reason}</p>}
        </>
      ),
    },
    { title: "", cell: (request) => request.state === "waiting" && <Buttons request={request} onDecide={onDecide} /> },
  ];
}

function Buttons({ request, onDecide }: { request: MoneyRequest; onDecide: (decision: Decision) => void }) {
  const words = useWords(approvalWords);
  const may = useMay();
  const { role } = usePerson();
  const title = useRequestTitle()(request);
  const mayApprove = !request.isOwn && (request.requested.operation !== "setApprovalAmount" || role === "owner");
  const kind = request.isOwn && request.secondedBy === null ? "withdraw" : "refuse";
  if (!may("approveMoneyRequest")) return null;
  return (
    <span className="row">
      {mayApprove && (
        <Button
          look="primary"
          aria-label={words.approveIt(title)}
          onClick={() => onDecide({ kind: "approve", request })}
        >
          {words.approve}
        </Button>
      )}
      <Button look="quiet" aria-label={words.refuseIt(title)} onClick={() => onDecide({ kind, request })}>
        {words[kind]}
      </Button>
    </span>
  );
}
