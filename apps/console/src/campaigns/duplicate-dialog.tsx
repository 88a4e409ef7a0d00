import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { fromLocalInput, readLocalTime, toLocalInput } from "../ui/local-time.ts";
import { MomentField } from "../ui/moment-field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { settingsOf } from "./campaign-form-definition.ts";
import { campaignWords } from "./words.ts";

/** A campaign with the settings and the videos of another one, and with other dates. */
export function DuplicateDialog({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const words = useWords(campaignWords);
  const { cancel } = useWords(uiWords);
  const notice = useNotice();
  const navigate = useNavigate();
  const add = useConfirmedChange(campaignRoutes.addCampaign, words.create);
  // Pressed again after a lost answer, it is added once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [name, setName] = useState(words.copyOf(campaign.name));
  const [startsAt, setStartsAt] = useState("");
  const [endsAt, setEndsAt] = useState(toLocalInput(campaign.endsAt));
  const submit = () => {
    // The field says which.
    if ([startsAt, endsAt].some((text) => readLocalTime(text) === undefined)) return;
    const settings = settingsOf(campaign);
    // As it is, with its seconds, unless another one was typed.
    const end = endsAt === toLocalInput(campaign.endsAt) ? settings.endsAt : fromLocalInput(endsAt);
    const creativeIds = campaign.creatives.filter(({ isActive }) => isActive).map(({ creativeId }) => creativeId);
    const dates = { startsAt: fromLocalInput(startsAt), endsAt: end };
    const body = { ...settings, idempotencyKey, formats: campaign.formats, creativeIds, name, ...dates };
    void add.run({ body }, (added) => {
      onClose();
      const { campaignId } = added;
      notice({ text: words.created(added.name) });
      void navigate({ to: "/campaigns/$campaignId", params: { campaignId } });
    });
  };
  return (
    <Dialog title={words.duplicateOf(campaign.name)} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!add.isPending) submit();
        }}
      >
        <Field label={words.name} fault={add.faults.name}>
          {(control) => <input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <div className="two">
          <MomentField
            label={words.startsAt}
            hint={words.noStart}
            fault={add.faults.startsAt}
            text={startsAt}
            onText={setStartsAt}
          />
          <MomentField
            label={words.endsAt}
            hint={words.noEndHint}
            fault={add.faults.endsAt}
            text={endsAt}
            onText={setEndsAt}
          />
        </div>
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
