import { partyRoutes } from "@intermission/operator-api/parties";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import type { z } from "zod";
import { FormSections } from "../forms/form-sections.tsx";
import type { FormWords } from "../forms/form-words.ts";
import { StoredForm } from "../forms/stored-form.tsx";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { type ConfirmedChange, useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { languageNames } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";
import { advertiserPartyForm, operatorForm, payeeForm } from "./party-forms.ts";
import { contractWords, filedWords, partyWords } from "./party-words.ts";

/** What statements and payouts say of the operator, and below which amount nothing is paid. */
export function OperatorDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(partyWords);
  const change = useConfirmedChange(partyRoutes.setOperatorParty);
  const filed = filedWords(words);
  const {
    legalName,
    address,
    taxId,
    iban,
    taxName,
    taxPercent,
    leastPayout,
    domain,
    contactEmail,
    tagId,
    topUpText,
    topUpUrl,
  } = words;
  const hints = { address: words.addressHint, iban: words.payerHint, leastPayoutMicros: words.leastPayoutHint };
  return (
    <PartyDialog
      title={words.operator}
      query={useAnswer(partyRoutes.showOperatorParty)}
      change={change}
      definition={operatorForm}
      schema={partyRoutes.setOperatorParty.body}
      onSave={(body, expected, onDone) => change.run({ body: { ...body, expected } }, onDone)}
      words={{
        labels: {
          legalName,
          address,
          taxId,
          iban,
          taxName,
          taxPercent,
          leastPayoutMicros: leastPayout,
          domain,
          contactEmail,
          tagId,
          topUpText,
          topUpUrl,
          ...filed.labels,
        },
        hints: {
          ...hints,
          taxPercent: words.taxPercentHint,
          domain: words.domainHint,
          contactEmail: words.contactEmailHint,
          tagId: words.tagIdHint,
          topUpText: words.topUpTextHint,
          topUpUrl: words.topUpUrlHint,
          ...filed.hints,
        },
        options: filed.options,
        sections: filed.sections,
      }}
      onClose={onClose}
    />
  );
}

interface AdvertiserPartyProps {
  advertiser: { advertiserId: string; name: string };
  onClose: () => void;
}

/** What later statements of an advertiser say of it. */
export function AdvertiserPartyDialog({ advertiser: { advertiserId, name }, onClose }: AdvertiserPartyProps) {
  const words = useWords(partyWords);
  const params = { advertiser: advertiserId };
  const change = useConfirmedChange(partyRoutes.setAdvertiserParty);
  const { legalName, address, taxId, language, taxNote } = words;
  const [filed, contract] = [filedWords(words), contractWords(words)];
  return (
    <PartyDialog
      title={words.partyOf(name)}
      query={useAnswer(partyRoutes.showAdvertiserParty, { params })}
      change={change}
      definition={advertiserPartyForm}
      schema={partyRoutes.setAdvertiserParty.body}
      onSave={(body, expected, onDone) => change.run({ params, body: { ...body, expected } }, onDone)}
      words={{
        labels: { legalName, address, taxId, language, taxNote, ...filed.labels, ...contract.labels },
        hints: {
          legalName: words.legalNameHint,
          address: words.addressHint,
          taxNote: words.taxNoteHint,
          ...filed.hints,
          ...contract.hints,
        },
        options: { language: languageNames, ...filed.options, ...contract.options },
        sections: filed.sections,
      }}
      onClose={onClose}
    />
  );
}

/** To whom the payouts of a bot go. */
export function PayeeDialog({ botId, name, onClose }: { botId: string; name: string; onClose: () => void }) {
  const words = useWords(partyWords);
  const params = { botId };
  const change = useConfirmedChange(partyRoutes.setPayee);
  const { legalName, iban, address, taxId, language, leastPayout, domain } = words;
  const filed = filedWords(words);
  return (
    <PartyDialog
      title={words.payeeOf(name)}
      query={useAnswer(partyRoutes.showPayee, { params })}
      change={change}
      definition={payeeForm}
      schema={partyRoutes.setPayee.body}
      onSave={(body, expected, onDone) => change.run({ params, body: { ...body, expected } }, onDone)}
      words={{
        labels: { legalName, iban, address, taxId, language, leastPayoutMicros: leastPayout, domain, ...filed.labels },
        hints: {
          legalName: words.holder,
          address: words.addressHint,
          leastPayoutMicros: words.ownLeastPayout,
          domain: words.payeeDomainHint,
          ...filed.hints,
        },
        options: { language: languageNames, ...filed.options },
        sections: filed.sections,
      }}
      onClose={onClose}
    />
  );
}

type PartyDialogProps<
  Stored extends object,
  Schema extends z.ZodType,
  Name extends string,
  Title extends string,
> = Pick<ComponentProps<typeof StoredForm<Stored, Schema, Name, Title>>, "definition" | "schema" | "onSave"> & {
  title: string;
  query: UseQueryResult<Stored>;
  change: Pick<ConfirmedChange<never>, "isPending" | "faults" | "dialog">;
  words: FormWords<Name, Title>;
  onClose: () => void;
};

function PartyDialog<Stored extends object, Schema extends z.ZodType, Name extends string, Title extends string>({
  title,
  query,
  change,
  words,
  onClose,
  ...form
}: PartyDialogProps<Stored, Schema, Name, Title>) {
  const { later } = useWords(partyWords);
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="secondary">{later}</p>
      <AnswerView query={query}>
        {(stored) => (
          <StoredForm
            {...form}
            stored={stored}
            isPending={change.isPending}
            serverFaults={change.faults}
            onClose={onClose}
          >
            {(typed, conflicts) => <FormSections form={typed} words={words} conflicts={conflicts} hasFocus />}
          </StoredForm>
        )}
      </AnswerView>
      {change.dialog}
    </Dialog>
  );
}
