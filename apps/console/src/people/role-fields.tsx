import { type Role, roles } from "@intermission/operator-api/access";
import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { useState } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { useWholeList } from "../operator/use-operator.ts";
import { Field } from "../ui/field.tsx";
import { roleWords } from "../words/role-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { peopleWords } from "./words.ts";

interface Reach {
  role: Role;
  advertiserId: string | null;
  botIds: readonly string[];
}

/** A role, and whose objects it sees, as a person chooses them. */
export function useReach(initial: Reach) {
  const [role, setRole] = useState(initial.role);
  const [advertiser, setAdvertiser] = useState(initial.advertiserId ?? "");
  const [bots, setBots] = useState(initial.botIds.join(", "));
  const botIds = bots.split(/[\s,]+/).filter((id) => id !== "");
  const body = { role, ...(role === "advertiser" && { advertiser }), ...(role === "publisher" && { botIds }) };
  return { role, advertiser, bots, setRole, setAdvertiser, setBots, body };
}

interface RoleFieldsProps {
  reach: ReturnType<typeof useReach>;
  faults: Readonly<Record<string, LocalText>>;
}

export function RoleFields({ reach, faults }: RoleFieldsProps) {
  const words = useWords(peopleWords);
  const names = roleWords[useLanguage()];
  const advertisers = useWholeList(advertiserRoutes.listAdvertisers);
  const { role, advertiser, bots } = reach;
  const botsFault = Object.entries(faults).find(([field]) => field.startsWith("botIds"))?.[1];
  return (
    <>
      <Field label={words.role} fault={faults.role}>
        {(control) => (
          <select
            {...control}
            value={role}
            onChange={({ target: { value } }) => reach.setRole(roles.find((one) => one === value) ?? role)}
          >
            {roles.map((one) => (
              <option key={one} value={one}>
                {names[one]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {role === "advertiser" && (
        <Field label={words.advertiser} hint={words.advertiserHint} fault={faults.advertiser}>
          {(control) => (
            <select {...control} value={advertiser} onChange={(event) => reach.setAdvertiser(event.target.value)}>
              <option value="">–</option>
              {advertisers.data?.advertisers.map(({ advertiserId, name }) => (
                <option key={advertiserId} value={advertiserId}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {role === "publisher" && (
        <Field label={words.bots} hint={words.botsHint} fault={botsFault}>
          {(control) => <input {...control} value={bots} onChange={(event) => reach.setBots(event.target.value)} />}
        </Field>
      )}
    </>
  );
}
