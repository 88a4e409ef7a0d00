import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { useDraft, useKeptDraft } from "../forms/draft.ts";
import type { TypedValues } from "../forms/form-definition.ts";
import { useSubmit, useTypedForm } from "../forms/typed-form.ts";
import { usePerson } from "../session/use-session.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { campaignForm, isCampaignField, newCampaignValues } from "./campaign-form-definition.ts";
import { useIsNewAdvertiser } from "./use-advertisers-like.ts";
import { campaignWords } from "./words.ts";
import "./campaigns.css";

const CampaignSections = lazy(async () => ({ default: (await import("./campaign-sections.tsx")).CampaignSections }));

const nameIn = ({ advertiser }: TypedValues) => String(advertiser ?? "").trim();

export function NewCampaignScreen() {
  const words = useWords(campaignWords);
  const navigate = useNavigate();
  const notice = useNotice();
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
      add.run({ body }, ({ campaignId, name }) => {
        draft.discard();
        notice({ text: words.created(name) });
        void navigate({ to: "/campaigns/$campaignId", params: { campaignId } });
      }),
  });
  return (
    <Page title={words.add}>
      <form className="panel narrow" onSubmit={submit} noValidate>
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
        <Suspense fallback={<Skeleton rows={8} />}>
          <CampaignSections form={form} isNewAdvertiser={isNewAdvertiser(form.values)} />
        </Suspense>
        <div className="row">
          <Button look="primary" type="submit" isBusy={add.isPending}>
            {words.create}
          </Button>
        </div>
      </form>
      {add.dialog}
    </Page>
  );
}
