import { type Alert, alertRoutes } from "@intermission/operator-api/alerts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useChange } from "../operator/use-operator.ts";
import { rowsOf, usePages } from "../operator/use-pages.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { alertText } from "./alert-text.ts";
import { alertWords } from "./words.ts";

/** What the person was told, the latest first. */
export function AlertsScreen() {
  const words = useWords(alertWords);
  const may = useMay();
  const columns = useColumns();
  const pages = usePages([alertRoutes.listAlerts.path], (after, signal) =>
    callOperator(alertRoutes.listAlerts, { query: { after, limit: 50 } }, signal),
  );
  const rows = rowsOf(
    pages.data?.pages.map(({ alerts }) => alerts),
    ({ alertId }) => alertId,
  );
  const [latest] = rows;
  const unread = pages.data?.pages[0]?.unread ?? 0;
  return (
    <Page
      title={words.title}
      aside={
        <>
          {may("setAlertSettings") && (
            <Link to="/account" hash="alerts" className="button button-plain">
              {words.settings}
            </Link>
          )}
          {unread > 0 && latest && may("markAlertsRead") && <MarkButton upTo={latest.alertId} />}
        </>
      }
    >
      <AnswerView query={pages} rows={4}>
        {() =>
          rows.length === 0 ? (
            <EmptyState>{words.none}</EmptyState>
          ) : (
            <DataTable
              label={words.title}
              columns={columns}
              rows={rows}
              pages={pages}
              keyOf={({ alertId }) => alertId}
            />
          )
        }
      </AnswerView>
    </Page>
  );
}

function MarkButton({ upTo }: { upTo: string }) {
  const words = useWords(alertWords);
  const onError = useFailedNotice();
  const mark = useChange(alertRoutes.markAlertsRead);
  return (
    <Button look="primary" isBusy={mark.isPending} onClick={() => mark.mutate({ body: { upTo } }, { onError })}>
      {words.markRead}
    </Button>
  );
}

function useColumns(): Column<Alert>[] {
  const words = useWords(alertWords);
  const language = useLanguage();
  const { ago } = useFormats();
  return [
    {
      title: words.what,
      cell: (alert) => <AlertLink alert={alert}>{alertText(alert, language)}</AlertLink>,
    },
    {
      title: words.state,
      cell: ({ readAt }) => (readAt === null ? <span className="pill pill-late">{words.unread}</span> : words.read),
    },
    { title: words.when, cell: ({ madeAt }) => ago(madeAt) },
  ];
}

/** To what an alert is about. */
function AlertLink({ alert: { cause, objectId }, children }: { alert: Alert; children: ReactNode }) {
  switch (cause) {
    case "money-low":
      return (
        <Link to="/advertisers/$advertiserId" params={{ advertiserId: objectId }} className="row-link">
          {children}
        </Link>
      );
    case "budget-spent":
    case "campaign-approved":
    case "campaign-refused":
      return (
        <Link to="/campaigns/$campaignId" params={{ campaignId: objectId }} className="row-link">
          {children}
        </Link>
      );
    case "fill-fallen":
      return (
        <Link to="/reports" search={{ bot: objectId }} className="row-link">
          {children}
        </Link>
      );
    case "bids-fallen":
      return (
        <Link to="/buyers/$buyerId" params={{ buyerId: objectId }} className="row-link">
          {children}
        </Link>
      );
    case "webhooks-failing":
      return (
        <Link to="/bots/$botId" params={{ botId: objectId }} className="row-link">
          {children}
        </Link>
      );
    case "videos-waiting":
      return (
        <Link to="/approval" className="row-link">
          {children}
        </Link>
      );
    case "campaigns-waiting":
      return (
        <Link to="/approval/campaigns" className="row-link">
          {children}
        </Link>
      );
    case "money-waiting":
    case "approvals-changed":
      return (
        <Link to="/approvals" className="row-link">
          {children}
        </Link>
      );
    case "views-held":
      return (
        <Link to="/reviews" className="row-link">
          {children}
        </Link>
      );
    case "payout-due":
      return (
        <Link to="/payouts" search={{ month: objectId }} className="row-link">
          {children}
        </Link>
      );
    case "new-device":
      return (
        <Link to="/account" className="row-link">
          {children}
        </Link>
      );
    default:
      throw cause satisfies never;
  }
}
