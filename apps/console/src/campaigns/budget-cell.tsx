import { amountOf } from "@intermission/operator-api/amounts";
import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { type ReactNode, useRef, useState } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { useMay } from "../session/use-session.ts";
import { Icon } from "../ui/icon.tsx";
import { useNotice } from "../ui/notices.tsx";
import { readTypedAmount } from "../ui/typed-amount.ts";
import { faultOfAmount } from "../ui/typed-faults.ts";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { campaignWords } from "./words.ts";

interface BudgetCellProps {
  campaign: Pick<Campaign, "campaignId" | "name" | "status" | "updatedAt" | "dailyBudgetMicros" | "totalBudgetMicros">;
  field: "dailyBudgetMicros" | "totalBudgetMicros";
  currency: string;
}

/**
 * A budget that is changed in its place: Enter saves, Escape does not, an empty field removes the budget. The new amount is
 * shown once the server has it.
 */
export function BudgetCell({ campaign, field, currency }: BudgetCellProps) {
  const words = useWords(campaignWords);
  const language = useLanguage();
  const { money } = useFormats();
  const may = useMay();
  const change = useBudgetChange({ campaign, field, currency });
  const opener = useRef<HTMLButtonElement>(null);
  const [text, setText] = useState<string>();
  const [fault, setFault] = useState<LocalText>();
  const [openedMicros, setOpenedMicros] = useState<number | null>(null);
  const { name, status } = campaign;
  const micros = campaign[field];
  const shown = micros === null ? words.noLimit : money(micros, currency);
  // An advertiser only raises what is limited.
  const isRaisable = may("updateCampaign") || micros !== null;
  if (!may("raiseBudget") || !isRaisable || status === "archived") return shown;
  const label = field === "dailyBudgetMicros" ? words.editDaily(name) : words.editTotal(name);
  const close = () => {
    setText(undefined);
    setFault(undefined);
    // After the button is there again.
    requestAnimationFrame(() => opener.current?.focus());
  };
  if (text === undefined) {
    return (
      <>
        <button
          type="button"
          ref={opener}
          className="edit-in-place"
          aria-label={`${label}: ${shown}`}
          onClick={() => {
            setText(micros === null ? "" : amountOf(micros));
            setOpenedMicros(micros);
          }}
        >
          {shown}
          <Icon name="edit" />
        </button>
        {change.dialog}
      </>
    );
  }
  const submit = async () => {
    // Enter twice is one change.
    if (change.isPending) return;
    const read = text.trim() === "" ? undefined : readTypedAmount(text, { kind: "budget", language });
    if (read?.outcome === "refused") {
      setFault(await faultOfAmount(read));
      return;
    }
    const changed = read?.micros ?? null;
    if (changed === micros) {
      close();
      return;
    }
    await change.save(changed, close);
  };
  const news = change.isPending || micros === openedMicros ? undefined : words.nowIs(shown);
  const form = { label, text, fault, news, isPending: change.isPending };
  return (
    <AmountForm {...form} onText={setText} onSubmit={submit} onClose={close}>
      {change.dialog}
    </AmountForm>
  );
}

/** Changes a budget, with Undo; for an advertiser, who may only raise it, without. */
function useBudgetChange({ campaign, field, currency }: BudgetCellProps) {
  const words = useWords(campaignWords);
  const { save } = useWords(uiWords);
  const { money } = useFormats();
  const may = useMay();
  const notice = useNotice();
  const update = useConfirmedChange(campaignRoutes.updateCampaign, save);
  const raise = useConfirmedChange(campaignRoutes.raiseBudget, save);
  const { campaignId, name, updatedAt: seen } = campaign;
  const before = campaign[field];
  const params = { campaignId };
  // What the reader sees is overwritten, and nothing that was set since.
  const query = { expectedUpdatedAt: seen };
  const onSaved = (changed: number | null, onUndo?: () => void) => {
    const amount = changed === null ? words.noLimit : money(changed, currency);
    notice({ text: words.budgetSaved({ name, amount }), ...(onUndo && { onUndo }) });
  };
  const isOwn = !may("updateCampaign");
  return {
    isPending: update.isPending || raise.isPending,
    dialog: isOwn ? raise.dialog : update.dialog,
    async save(changed: number | null, onDone: () => void) {
      if (isOwn) {
        await raise.run({ params, query, body: { [field]: changed ?? 0 } }, () => {
          onDone();
          onSaved(changed);
        });
        return;
      }
      await update.run({ params, query, body: { [field]: changed } }, ({ updatedAt }) => {
        onDone();
        const undone = { confirmed: true, expectedUpdatedAt: updatedAt };
        onSaved(changed, () => void update.run({ params, body: { [field]: before }, query: undone }));
      });
    },
  };
}

interface AmountFormProps {
  label: string;
  text: string;
  fault: LocalText | undefined;
  /** What another person has set while the field is open. */
  news: string | undefined;
  isPending: boolean;
  onText: (text: string) => void;
  onSubmit: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}

function AmountForm({ label, text, fault, news, isPending, onText, onSubmit, onClose, children }: AmountFormProps) {
  const { save } = useWords(uiWords);
  const language = useLanguage();
  return (
    <form
      className="edit-form"
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    >
      <input
        // The reader has just asked for the field.
        // biome-ignore lint/a11y/noAutofocus: the button that had the focus is replaced by it.
        autoFocus
        inputMode="decimal"
        aria-label={label}
        aria-invalid={fault !== undefined}
        value={text}
        onFocus={(event) => event.target.select()}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
        }}
      />
      <button type="submit" className="button button-primary" aria-label={save} aria-busy={isPending}>
        <Icon name="check" />
      </button>
      <span className="fault" role="alert">
        {fault?.in(language) ?? news}
      </span>
      {children}
    </form>
  );
}
