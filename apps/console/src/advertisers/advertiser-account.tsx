import { type Advertiser, advertiserRoutes } from "@intermission/operator-api/advertisers";
import { type AdvertiserMoney, moneyRoutes } from "@intermission/operator-api/money";
import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import { Link } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense, useState } from "react";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { billingWords, termsWords } from "../words/terms-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Entries } from "./entries.tsx";
import { Statements } from "./statements.tsx";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { TopUpWays } from "./top-up-ways.tsx";
import { advertiserWords } from "./words.ts";

/** An advertiser: what is left, the statements, and each entry of the account. */
export function AdvertiserAccount({ advertiserId }: { advertiserId: string }) {
  const input = { params: { advertiser: advertiserId } };
  const money = useAnswer(moneyRoutes.showAdvertiserMoney, input);
  const advertiser = useAnswer(advertiserRoutes.showAdvertiser, input);
  const may = useMay();
  return (
    <Page
      title={money.data?.name ?? advertiserId}
      aside={
        <>
          {money.data && <AsOf at={money.dataUpdatedAt} />}
          {money.data && <MoneyActions advertiser={money.data} currency={money.data.currency} />}
          {advertiser.data && <StopButton advertiser={advertiser.data} />}
        </>
      }
    >
      <AnswerView query={money}>
        {(read) => (
          <div className="stack">
            <Facts money={read} currency={read.currency} advertiser={advertiser.data} />
            {!may("recordTopUp") && may("showTopUpWays") && <TopUpWays advertiser={read} />}
            <Statements advertiserId={read.advertiserId} />
            <Entries advertiser={read} currency={read.currency} />
          </div>
        )}
      </AnswerView>
    </Page>
  );
}

interface FactsProps {
  money: AdvertiserMoney;
  currency: string;
  advertiser: Advertiser | undefined;
}

function Facts({ money: account, currency, advertiser }: FactsProps) {
  const words = useWords(advertiserWords);
  const may = useMay();
  const terms = useWords(termsWords);
  const billings = billingWords[useLanguage()];
  const { exactMoney } = useFormats();
  const { availableMicros, balanceMicros, billing, state } = account;
  return (
    <dl className="panel facts">
      <div>
        <dt>{words.available}</dt>
        <dd className={availableMicros === 0 ? "fault" : undefined}>
          {availableMicros === null ? words.noLimit : exactMoney(availableMicros, currency)}
        </dd>
      </div>
      <div>
        <dt>{words.balance}</dt>
        <dd>{exactMoney(balanceMicros, currency)}</dd>
      </div>
      <div>
        <dt>{terms.billing}</dt>
        <dd>{billings[billing]}</dd>
      </div>
      <div>
        <dt>{words.state}</dt>
        <dd>
          <span className={`pill ${state === "active" ? "pill-good" : "pill-late"}`}>{words[state]}</span>
        </dd>
      </div>
      {advertiser && may("listCampaigns") && (
        <div>
          <dt>{words.campaigns}</dt>
          <dd>
            <Link to="/campaigns" search={{ advertiser: advertiser.name }} className="link">
              {words.showCampaigns(advertiser.campaigns)}
            </Link>
          </dd>
        </div>
      )}
    </dl>
  );
}

interface MoneyDialog {
  needs: OperatorRouteName;
  look: "primary" | "plain";
  Dialog: ComponentType<MoneyDialogProps>;
}

/** In the order of their buttons. Forms are loaded when they are opened. */
const dialogs = {
  topUp: {
    needs: "recordTopUp",
    look: "primary",
    Dialog: lazy(async () => ({ default: (await import("./top-up-dialog.tsx")).TopUpDialog })),
  },
  correct: {
    needs: "correctAdvertiser",
    look: "plain",
    Dialog: lazy(async () => ({ default: (await import("./correction-dialog.tsx")).CorrectionDialog })),
  },
  terms: {
    needs: "setTerms",
    look: "plain",
    Dialog: lazy(async () => ({ default: (await import("./terms-dialog.tsx")).TermsDialog })),
  },
  rename: {
    needs: "updateAdvertiser",
    look: "plain",
    Dialog: lazy(async () => ({ default: (await import("./rename-dialog.tsx")).RenameDialog })),
  },
  party: {
    needs: "setAdvertiserParty",
    look: "plain",
    Dialog: lazy(async () => ({ default: (await import("./party-dialogs.tsx")).AdvertiserPartyDialog })),
  },
  postbackKey: {
    needs: "issuePostbackKey",
    look: "plain",
    Dialog: lazy(async () => ({ default: (await import("./postback-key-dialog.tsx")).PostbackKeyDialog })),
  },
} as const satisfies Record<string, MoneyDialog>;
const dialogNames = [
  "topUp",
  "correct",
  "terms",
  "party",
  "rename",
  "postbackKey",
] as const satisfies (keyof typeof dialogs)[];

function MoneyActions({ advertiser, currency }: { advertiser: AdvertiserMoney; currency: string }) {
  const words = useWords(advertiserWords);
  const may = useMay();
  const [opened, setOpened] = useState<keyof typeof dialogs>();
  const OpenDialog = opened && dialogs[opened].Dialog;
  return (
    <>
      {dialogNames
        .filter((name) => may(dialogs[name].needs))
        .map((name) => (
          <Button key={name} look={dialogs[name].look} onClick={() => setOpened(name)}>
            {words[name]}
          </Button>
        ))}
      <Suspense>
        {OpenDialog && <OpenDialog advertiser={advertiser} currency={currency} onClose={() => setOpened(undefined)} />}
      </Suspense>
    </>
  );
}

/** Stops all campaigns of an advertiser, those to come too, and lets them run again. */
function StopButton({ advertiser: { advertiserId, name, state } }: { advertiser: Advertiser }) {
  const words = useWords(advertiserWords);
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const archive = useChange(advertiserRoutes.archiveAdvertiser);
  const restore = useChange(advertiserRoutes.restoreAdvertiser);
  if (!may("archiveAdvertiser")) return null;
  const input = { params: { advertiser: advertiserId } };
  const onRestore = () => restore.mutate(input, { onError, onSuccess: () => notice({ text: words.restored(name) }) });
  const onStop = () =>
    archive.mutate(input, {
      onError,
      onSuccess: () => notice({ text: words.stopped(name), onUndo: onRestore }),
    });
  const isStopped = state === "archived";
  return (
    <Button
      look={isStopped ? "plain" : "danger"}
      isBusy={archive.isPending || restore.isPending}
      onClick={isStopped ? onRestore : onStop}
    >
      {isStopped ? words.restore : words.stop}
    </Button>
  );
}
