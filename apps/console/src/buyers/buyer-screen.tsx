import { type Buyer, buyerRoutes } from "@intermission/operator-api/buyers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { BuyerExchanges } from "./buyer-exchanges.tsx";
import { buyerForm, wordsOfBuyerForm } from "./buyer-forms.ts";
import { bidOutcomeWords, buyerWords, consentOutcomeWords } from "./words.ts";

const PartnerReports = lazy(async () => ({ default: (await import("./partner-reports.tsx")).PartnerReports }));

const route = getRouteApi("/shell/buyers/$buyerId");

/** A buyer: what became of its requests, the latest of them, and its settings. */
export function BuyerScreen() {
  const { buyerId } = route.useParams();
  const may = useMay();
  const buyer = useAnswer(buyerRoutes.showBuyer, { params: { buyerId } });
  return (
    <Page title={buyer.data?.name ?? buyerId} aside={buyer.data && <Actions buyer={buyer.data} />}>
      <AnswerView query={buyer}>
        {(read) => (
          <div className="stack">
            <Results buyer={read} />
            {may("listPartnerDifferences") && (
              <Suspense>
                <PartnerReports buyerId={buyerId} />
              </Suspense>
            )}
            {may("readBids") && <BuyerExchanges buyerId={buyerId} currency={read.currency} />}
            {may("updateBuyer") && <Settings buyer={read} />}
          </div>
        )}
      </AnswerView>
    </Page>
  );
}

function Actions({ buyer: { buyerId, name, isActive } }: { buyer: Buyer }) {
  const words = useWords(buyerWords);
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const update = useChange(buyerRoutes.updateBuyer);
  const trial = useChange(buyerRoutes.tryBuyer);
  const params = { buyerId };
  if (!may("updateBuyer")) return null;
  const onSwitch = () =>
    update.mutate(
      { params, body: { isActive: !isActive } },
      { onError, onSuccess: () => notice({ text: isActive ? words.turnedOff(name) : words.turnedOn(name) }) },
    );
  return (
    <>
      <Button isBusy={trial.isPending} onClick={() => trial.mutate({ params }, { onError })}>
        {words.tryIt}
      </Button>
      <Button look={isActive ? "danger" : "primary"} isBusy={update.isPending} onClick={onSwitch}>
        {isActive ? words.turnOff : words.turnOn}
      </Button>
    </>
  );
}

function Results({ buyer: { buyerId, isActive, advertiserId, campaignId } }: { buyer: Buyer }) {
  const words = useWords(buyerWords);
  const language = useLanguage();
  const outcomes = bidOutcomeWords[language];
  const consentWords = consentOutcomeWords[language];
  const { exactMoney, number, milliseconds } = useFormats();
  const results = useAnswer(buyerRoutes.showBids, { params: { buyerId } });
  return (
    <section className="panel stack" aria-labelledby="results">
      <h2 id="results">{words.results}</h2>
      <AnswerView query={results}>
        {({
          outcomes: rows,
          consents,
          shown,
          owedMicros,
          completed,
          completedMicros,
          notCompletedMicros,
          currency,
        }) => {
          const facts = {
            [words.shown]: number(shown),
            [words.owed]: exactMoney(owedMicros, currency),
            [words.completed]: number(completed),
            [words.completedFor]: exactMoney(completedMicros, currency),
            [words.notCompleted]: exactMoney(notCompletedMicros, currency),
          };
          return (
            <>
              <dl className="facts">
                <div>
                  <dt>{words.state}</dt>
                  <dd>
                    <span className={`pill ${isActive ? "pill-good" : ""}`}>{isActive ? words.on : words.off}</span>
                  </dd>
                </div>
                {Object.entries(facts).map(([name, value]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                  </div>
                ))}
              </dl>
              {rows.length === 0 && <p className="secondary">{words.noResults}</p>}
              <ul>
                {rows.map(({ outcome, count, tookMs }) => (
                  <li key={outcome}>{`${number(count)} × ${outcomes[outcome]} (${milliseconds(tookMs)})`}</li>
                ))}
                {consents.map(({ consent, count }) => (
                  <li key={consent}>{`${number(count)} × ${consentWords[consent]}`}</li>
                ))}
              </ul>
            </>
          );
        }}
      </AnswerView>
      <div className="row">
        <Link to="/advertisers/$advertiserId" params={{ advertiserId }} className="link">
          {words.account}
        </Link>
        <Link to="/campaigns/$campaignId" params={{ campaignId }} className="link">
          {words.campaign}
        </Link>
      </div>
    </section>
  );
}

function Settings({ buyer }: { buyer: Buyer }) {
  const words = useWords(buyerWords);
  const language = useLanguage();
  const update = useConfirmedChange(buyerRoutes.updateBuyer);
  return (
    <section className="panel narrow" aria-labelledby="settings">
      <h2 id="settings">{words.settings}</h2>
      <StoredForm
        definition={buyerForm}
        stored={buyer}
        schema={buyerRoutes.updateBuyer.body}
        isPending={update.isPending}
        serverFaults={update.faults}
        onSave={(body, _seen, onDone) => update.run({ params: { buyerId: buyer.buyerId }, body }, onDone)}
      >
        {(form, conflicts) => <FormSections form={form} words={wordsOfBuyerForm(language)} conflicts={conflicts} />}
      </StoredForm>
      {update.dialog}
    </section>
  );
}
