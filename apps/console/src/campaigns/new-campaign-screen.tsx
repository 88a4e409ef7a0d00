import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { useDraft, useKeptDraft } from "../forms/draft.ts";
import type { TypedValues } from "../forms/form-definition.ts";
import { type TypedForm, useSubmit, useTypedForm } from "../forms/typed-form.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import {
  type CampaignField,
  type CampaignSection,
  campaignForm,
  draftForm,
  isCampaignField,
  newCampaignValues,
} from "./campaign-form-definition.ts";
import { useIsNewAdvertiser } from "./use-advertisers-like.ts";
import { campaignReviewWords, campaignWords } from "./words.ts";
import "./campaigns.css";

const CampaignSections = lazy(async () => ({ default: (await import("./campaign-sections.tsx")).CampaignSections }));

const nameIn = ({ advertiser }: TypedValues) => String(advertiser ?? "").trim();

/** Adds a campaign: an operator's runs at once, an advertiser's is a draft. */
export function NewCampaignScreen() {
  return useMay()("addCampaign") ? <NewCampaign /> : <NewDraft />;
}

function NewCampaign() {
  const words = useWords(campaignWords);
  const onAdded = useAdded();
  const add = useConfirmedChange(campaignRoutes.addCampaign, words.create);
  const { personId } = usePerson();
  const draft = useDraft("campaign-draft", { personId, usual: newCampaignValues });
  const [advertiser, setAdvertiser] = useState(nameIn(draft.values));
  const isNew = useIsNewAdvertiser(advertiser);
  const isNewAdvertiser = (values: TypedValues) => isNew(nameIn(values));
  const form = useTypedForm(campaignForm, {
    initial: draft.values,
    serverFaults: add.faults,
    isShown: (name, values) => isCampaignField(name, values, { isNew: true, isNewAdvertiser: isNewAdvertiser(values) }),
  });
  useKeptDraft(draft, form.methods);
  const typed = nameIn(form.values);
  useEffect(() => setAdvertiser(typed), [typed]);
  const submit = useSubmit(form, {
    schema: campaignRoutes.addCampaign.body,
    fixed: { idempotencyKey: draft.idempotencyKey },
    onBody: (body) =>
      add.run({ body }, (added) => {
        draft.discard();
        onAdded(added, words.created(added.name));
      }),
  });
  return (
    <CampaignPage form={form} draft={draft} submitText={words.create} isBusy={add.isPending} onSubmit={submit}>
      <CampaignSections form={form} isNewAdvertiser={isNewAdvertiser(form.values)} />
      {add.dialog}
    </CampaignPage>
  );
}

function NewDraft() {
  const words = useWords(campaignReviewWords);
  const onAdded = useAdded();
  const add = useConfirmedChange(campaignReviewRoutes.draftCampaign, words.saveDraft);
  const { personId, advertiserId } = usePerson();
  const draft = useDraft("own-campaign-draft", { personId, usual: newCampaignValues });
  const form = useTypedForm(draftForm, {
    initial: draft.values,
    serverFaults: add.faults,
    isShown: (name, values) => isCampaignField(name, values, { isNew: true, isNewAdvertiser: false }),
  });
  useKeptDraft(draft, form.methods);
  const submit = useSubmit(form, {
    schema: campaignReviewRoutes.draftCampaign.body,
    fixed: { idempotencyKey: draft.idempotencyKey },
    onBody: (body) =>
      add.run({ query: { advertiser: advertiserId ?? "" }, body }, (added) => {
        draft.discard();
        onAdded(added, words.drafted(added.name));
      }),
  });
  return (
    <CampaignPage form={form} draft={draft} submitText={words.saveDraft} isBusy={add.isPending} onSubmit={submit}>
      <CampaignSections form={form} isNewAdvertiser={false} isDraft />
      {add.dialog}
    </CampaignPage>
  );
}

/** Notifies that a campaign was added, and opens it. */
function useAdded() {
  const navigate = useNavigate();
  const notice = useNotice();
  return ({ campaignId }: Pick<Campaign, "campaignId">, text: string) => {
    notice({ text });
    void navigate({ to: "/campaigns/$campaignId", params: { campaignId } });
  };
}

interface CampaignPageProps {
  form: TypedForm<CampaignField, CampaignSection>;
  draft: ReturnType<typeof useDraft>;
  submitText: string;
  isBusy: boolean;
  onSubmit: (event: FormEvent) => unknown;
  children: ReactNode;
}

function CampaignPage({ form, draft, submitText, isBusy, onSubmit, children }: CampaignPageProps) {
  const words = useWords(campaignWords);
  return (
    <Page title={words.add}>
      <form className="panel narrow" onSubmit={(event) => void onSubmit(event)} noValidate>
        {draft.isRestored && (
          <p className="row">
            <span role="status">{words.draftRestored}</span>
            <Button
              look="quiet"
              onClick={() => {
                draft.discard();
                form.methods.reset(newCampaignValues);
              }}
            >
              {words.discardDraft}
            </Button>
          </p>
        )}
        <Suspense fallback={<Skeleton rows={8} />}>{children}</Suspense>
        <div className="row">
          <Button look="primary" type="submit" isBusy={isBusy}>
            {submitText}
          </Button>
        </div>
      </form>
    </Page>
  );
}
