import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { usePerson } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { CampaignForm } from "./campaign-form.tsx";
import { type CampaignFormValues, newCampaignValues } from "./campaign-form-values.ts";
import { discardDraft, keepDraft, readDraft } from "./draft.ts";
import { campaignWords } from "./words.ts";
import "./campaigns.css";

export function NewCampaignScreen() {
  const words = useWords(campaignWords);
  const navigate = useNavigate();
  const notice = useNotice();
  const add = useConfirmedChange(campaignRoutes.addCampaign);
  const { personId } = usePerson();
  const [draft, setDraft] = useState(() => readDraft(personId));
  const [idempotencyKey, setIdempotencyKey] = useState(() => draft?.idempotencyKey ?? crypto.randomUUID());
  const form = useForm<CampaignFormValues>({ defaultValues: draft?.values ?? newCampaignValues });
  const { watch, reset } = form;
  useEffect(() => {
    const typing = watch((typed) =>
      keepDraft(personId, { idempotencyKey, values: { ...newCampaignValues, ...typed } as CampaignFormValues }),
    );
    return () => typing.unsubscribe();
  }, [watch, personId, idempotencyKey]);
  const discard = () => {
    discardDraft();
    setDraft(undefined);
    setIdempotencyKey(crypto.randomUUID());
    reset(newCampaignValues);
  };
  return (
    <Page title={words.add}>
      <div className="panel narrow">
        {draft !== undefined && (
          <p className="row">
            <span role="status">{words.draftRestored}</span>
            <Button look="quiet" onClick={discard}>
              {words.discardDraft}
            </Button>
          </p>
        )}
        <CampaignForm
          form={form}
          isNew
          submitText={words.create}
          isBusy={add.isPending}
          serverFaults={add.faults}
          onSubmit={(body) =>
            void add.run({ body: { ...body, idempotencyKey } }, ({ campaignId, name }) => {
              discardDraft();
              notice({ text: words.created(name) });
              void navigate({ to: "/campaigns/$campaignId", params: { campaignId } });
            })
          }
        />
      </div>
      {add.dialog}
    </Page>
  );
}
