import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNavigate } from "@tanstack/react-router";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { CampaignForm } from "./campaign-form.tsx";
import { newCampaignValues } from "./campaign-form-values.ts";
import { campaignWords } from "./words.ts";
import "./campaigns.css";

export function NewCampaignScreen() {
  const words = useWords(campaignWords);
  const navigate = useNavigate();
  const notice = useNotice();
  const add = useConfirmedChange(campaignRoutes.addCampaign);
  return (
    <Page title={words.add}>
      <div className="panel narrow">
        <CampaignForm
          isNew
          values={newCampaignValues}
          submitText={words.create}
          isBusy={add.isPending}
          serverFaults={add.faults}
          onSubmit={(body) =>
            void add.run({ body }, ({ campaignId, name }) => {
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
