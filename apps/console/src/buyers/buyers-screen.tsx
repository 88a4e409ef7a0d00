import { type Buyer, buyerRoutes } from "@intermission/operator-api/buyers";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { DemandSources } from "./demand-sources.tsx";
import { buyerWords } from "./words.ts";

/** The form is loaded when it is opened. */
const AddBuyerDialog = lazy(async () => ({ default: (await import("./add-buyer-dialog.tsx")).AddBuyerDialog }));

/** The buyers of OpenRTB. */
export function BuyersScreen() {
  const words = useWords(buyerWords);
  const may = useMay();
  const [isAdded, setAdded] = useState(false);
  const buyers = useAnswer(buyerRoutes.listBuyers, { query: {} });
  const columns = useColumns();
  const add = may("addBuyer") && (
    <Button look="primary" onClick={() => setAdded(true)}>
      {words.add}
    </Button>
  );
  return (
    <Page
      title={words.buyers}
      aside={
        <>
          {buyers.data && <AsOf at={buyers.dataUpdatedAt} />}
          {add}
        </>
      }
    >
      <AnswerView query={buyers}>
        {({ buyers: rows }) => (
          <DataTable
            label={words.buyers}
            columns={columns}
            rows={rows}
            keyOf={({ buyerId }) => buyerId}
            empty={<EmptyState action={add}>{words.none}</EmptyState>}
          />
        )}
      </AnswerView>
      {may("showDemand") && <DemandSources />}
      <Suspense>{isAdded && <AddBuyerDialog onClose={() => setAdded(false)} />}</Suspense>
    </Page>
  );
}

function useColumns(): Column<Buyer>[] {
  const words = useWords(buyerWords);
  const { exactMoney, milliseconds } = useFormats();
  return [
    {
      title: words.name,
      cell: ({ buyerId, name }) => (
        <Link to="/buyers/$buyerId" params={{ buyerId }} className="row-link">
          {name}
        </Link>
      ),
    },
    {
      title: words.state,
      cell: ({ isActive }) => (
        <span className={`pill ${isActive ? "pill-good" : ""}`}>{isActive ? words.on : words.off}</span>
      ),
    },
    { title: words.address, cell: ({ url }) => <code>{url}</code> },
    { title: words.tmax, isNumber: true, cell: ({ tmaxMs }) => milliseconds(tmaxMs) },
    {
      title: words.floor,
      isNumber: true,
      cell: ({ floorMicros, currency }) => exactMoney(floorMicros, currency),
    },
  ];
}
