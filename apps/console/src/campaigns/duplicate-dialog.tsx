import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { fromLocalInput, toLocalInput } from "../ui/local-time.ts";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { settingsOf } from "./campaign-form-values.ts";
import { campaignWords } from "./words.ts";

/** A campaign with the settings and the videos of another one, and with other dates. */
export function DuplicateDialog({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const words = useWords(campaignWords);
  const { cancel } = useWords(uiWords);
  const notice = useNotice();
  const navigate = useNavigate();
  const add = useConfirmedChange(campaignRoutes.addCampaign);
  const [name, setName] = useState(words.copyOf(campaign.name));
  const [startsAt, setStartsAt] = useState("");
  const [endsAt, setEndsAt] = useState(toLocalInput(campaign.endsAt));
  const submit = () =>
    add.run(
      {
        body: {
          ...settingsOf(campaign),
          formats: campaign.formats,
          creativeIds: campaign.creatives.filter(({ isActive }) => isActive).map(({ creativeId }) => creativeId),
          name,
          startsAt: fromLocalInput(startsAt),
          endsAt: fromLocalInput(endsAt),
        },
      },
      (added) => {
        onClose();
        const { campaignId } = added;
        notice({ text: words.created(added.name) });
        void navigate({ to: "/campaigns/$campaignId", params: { campaignId } });
      },
    );
  return (
    <Dialog title={words.duplicateOf(campaign.name)} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field label={words.name} fault={add.faults.name}>
          {(control) => <input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <div className="two">
          <Field label={words.startsAt} fault={add.faults.startsAt}>
            {(control) => (
              <input
                type="datetime-local"
                {...control}
                value={startsAt}
                onChange={(event) => setStartsAt(event.target.value)}
              />
            )}
          </Field>
          <Field label={words.endsAt} fault={add.faults.endsAt}>
            {(control) => (
              <input
                type="datetime-local"
                {...control}
                value={endsAt}
                onChange={(event) => setEndsAt(event.target.value)}
              />
            )}
          </Field>
        </div>
        <p className="hint">{words.datesHint}</p>
        <div className="dialog-foot">
          <Button onClick={onClose}>{cancel}</Button>
          <Button look="primary" type="submit" isBusy={add.isPending}>
            {words.create}
          </Button>
        </div>
      </form>
      {add.dialog}
    </Dialog>
  );
}
