import { peopleRoutes } from "@intermission/operator-api/people";
import type { Person } from "@intermission/operator-api/session";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useChange } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { ActionsMenu } from "../ui/actions-menu.tsx";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { ShownOnceDialog } from "../ui/shown-once-dialog.tsx";
import { useWords } from "../words/word-table.ts";
import { SeeAsButton } from "./see-as-button.tsx";
import { peopleWords } from "./words.ts";

/** A form is loaded when it is opened. */
const RoleDialog = lazy(async () => ({ default: (await import("./role-dialog.tsx")).RoleDialog }));
const EmailDialog = lazy(async () => ({ default: (await import("./email-dialog.tsx")).EmailDialog }));

/** Disabling has an inverse; inviting anew has none, so it needs a confirmation. The own account is left out. */
export function PersonActions({ person }: { person: Person }) {
  const { personId, email, isDisabled } = person;
  const words = useWords(peopleWords);
  const own = usePerson();
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const disable = useChange(peopleRoutes.disablePerson);
  const enable = useChange(peopleRoutes.enablePerson);
  const renew = useChange(peopleRoutes.renewInvitation);
  const [isConfirming, setConfirming] = useState(false);
  const [form, setForm] = useState<"role" | "email">();
  const closeForm = () => setForm(undefined);
  const [link, setLink] = useState<{ link: string; isMailed: boolean }>();
  const changes = may("listAuditEntries") && (
    <Link to="/audit" search={{ actor: email }} className="button button-quiet" aria-label={words.history(email)}>
      {words.changes}
    </Link>
  );
  if (own.personId === personId) return changes;
  const isSeen = !isDisabled && may("startImpersonation") && (own.role === "owner" || person.role !== "owner");
  const seeAs = isSeen && <SeeAsButton person={person} />;
  if (!may("changeRole")) return seeAs || changes;
  const input = { params: { personId } };
  const onEnable = () => enable.mutate(input, { onError, onSuccess: () => notice({ text: words.enabledNow(email) }) });
  const onDisable = () =>
    disable.mutate(input, {
      onError,
      onSuccess: () => notice({ text: words.disabledNow(email), onUndo: onEnable }),
    });
  const onRenew = () =>
    renew.mutate(input, {
      onError,
      onSuccess: (invited) => {
        setConfirming(false);
        setLink(invited);
      },
    });
  return (
    <>
      <ActionsMenu label={words.actionsOf(email)}>
        {seeAs}
        {changes}
        <Button look="quiet" aria-label={words.roleOf(email)} onClick={() => setForm("role")}>
          {words.role}
        </Button>
        <Button look="quiet" aria-label={words.changeEmailOf(email)} onClick={() => setForm("email")}>
          {words.changeEmail}
        </Button>
        <Button
          look="quiet"
          isBusy={disable.isPending || enable.isPending}
          aria-label={isDisabled ? words.enableOf(email) : words.disableOf(email)}
          onClick={isDisabled ? onEnable : onDisable}
        >
          {isDisabled ? words.enable : words.disable}
        </Button>
        <Button look="quiet" aria-label={words.inviteAnewOf(email)} onClick={() => setConfirming(true)}>
          {words.inviteAnew}
        </Button>
      </ActionsMenu>
      <Suspense>
        {form === "role" && <RoleDialog person={person} onClose={closeForm} />}
        {form === "email" && <EmailDialog person={person} onClose={closeForm} />}
      </Suspense>
      {isConfirming && (
        <FormDialog
          title={words.inviteAnewOf(email)}
          submitText={words.inviteAnew}
          isBusy={renew.isPending}
          onSubmit={onRenew}
          onClose={() => setConfirming(false)}
        >
          <p>{words.inviteAnewText}</p>
        </FormDialog>
      )}
      {link !== undefined && <LinkDialog email={email} {...link} onClose={() => setLink(undefined)} />}
    </>
  );
}

interface LinkDialogProps {
  email: string;
  link: string;
  isMailed: boolean;
  onClose: () => void;
}

/** The link of an invitation, for who passes it on. */
function LinkDialog({ email, link, isMailed, onClose }: LinkDialogProps) {
  const words = useWords(peopleWords);
  const about = isMailed ? words.linkMailed(email) : words.linkText(email);
  return <ShownOnceDialog title={words.link} about={about} value={link} onClose={onClose} />;
}
