import type { Passkey } from "@intermission/operator-api/sign-in-methods";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";

/** Passkeys, and linked accounts, of one person. */
export const MAX_METHODS = 20;

export interface StoredIdentity {
  identityId: string;
  issuer: string;
  label: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

const ofPassword = statement<{ hasPassword: boolean; recoveryCodes: number }>(
  "methods.of-password",
  `select password_hash is not null as "hasPassword",
     (select count(*)::int from person_recovery_codes where person_recovery_codes.person_id = people.person_id) as "recoveryCodes"
   from people where person_id = $1`,
);
const passkeys = statement<Passkey>(
  "methods.passkeys",
  `select passkey_id as "passkeyId", name, created_at as "createdAt", last_used_at as "lastUsedAt"
   from person_passkeys where person_id = $1 order by created_at, passkey_id`,
);
const identities = statement<StoredIdentity>(
  "methods.identities",
  `select identity_id as "identityId", issuer, label, created_at as "createdAt", last_used_at as "lastUsedAt"
   from person_identities where person_id = $1 order by created_at, identity_id`,
);

interface SignInMethods {
  hasPassword: boolean;
  recoveryCodes: number;
  passkeys: Passkey[];
  identities: StoredIdentity[];
}

export async function readSignInMethods({ run }: Pick<Transaction, "run">, personId: string): Promise<SignInMethods> {
  const [person] = await run(ofPassword, [personId]);
  return {
    hasPassword: person?.hasPassword ?? false,
    recoveryCodes: person?.recoveryCodes ?? 0,
    passkeys: await run(passkeys, [personId]),
    identities: await run(identities, [personId]),
  };
}

type MethodId = { passkeyId: string } | { identityId: string };

export type RemovalDecision = "remove" | "unknown" | "last";

/** Whether a passkey or a linked account may be removed: without any way to sign in, its person would be locked out. */
function decideRemoval(methods: SignInMethods, id: MethodId): RemovalDecision {
  const isKnown =
    "passkeyId" in id
      ? methods.passkeys.some(({ passkeyId }) => passkeyId === id.passkeyId)
      : methods.identities.some(({ identityId }) => identityId === id.identityId);
  if (!isKnown) return "unknown";
  const { length } = [...methods.passkeys, ...methods.identities];
  return methods.hasPassword || length > 1 ? "remove" : "last";
}

const lock = statement<never>("methods.lock", "select from people where person_id = $1 for update");
const removePasskey = statement<never>(
  "methods.remove-passkey",
  "delete from person_passkeys where person_id = $1 and passkey_id = $2",
);
const removeIdentity = statement<never>(
  "methods.remove-identity",
  "delete from person_identities where person_id = $1 and identity_id = $2",
);

/** Removes one of the own ways to sign in, but not the last one. */
export async function removeSignInMethod(
  database: Database,
  { personId, id, author }: { personId: string; id: MethodId; author?: Author | undefined },
): Promise<RemovalDecision> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, personId);
    // Of two simultaneous removals, the second one sees the result of the first.
    await tx.run(lock, [personId]);
    const decision = decideRemoval(await readSignInMethods(tx, personId), id);
    if (decision !== "remove") return decision;
    if ("passkeyId" in id) await tx.run(removePasskey, [personId, id.passkeyId]);
    else await tx.run(removeIdentity, [personId, id.identityId]);
    await audit(tx, change);
    return decision;
  });
}
