import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { CampaignForm } from "./campaign-form.tsx";
import { newCampaignValues } from "./campaign-form-values.ts";
import { discardDraft, keepDraft, readDraft } from "./draft.ts";
import { campaignWords } from "./words.ts";
import "./campaigns.css";

export function NewCampaignScreen() {
  const words = useWords(campaignWords);
  const navigate = useNavigate();
  const notice = useNotice();
  const add = useConfirmedChange(campaignRoutes.addCampaign);
  const [draft, setDraft] = useState(readDraft);
  const discard = () => {
    discardDraft();
    setDraft(undefined);
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
          // Without the draft the form begins anew.
          key={draft === undefined ? "new" : "draft"}
          isNew
          values={draft ?? newCampaignValues}
          onTyped={keepDraft}
          submitText={words.create}
          isBusy={add.isPending}
          serverFaults={add.faults}
          onSubmit={(body) =>
            void add.run({ body }, ({ campaignId, name }) => {
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
