import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { StoreFault } from "./store-faults.ts";

/** Who runs PostgreSQL, which refuses to run as root. */
export type ClusterAccount =
  | { readonly kind: "this-user" }
  /** Root starts it as another user, who owns the cluster's folder. */
  | { readonly kind: "other-user"; readonly name: string; readonly uid: number; readonly gid: number }
  /** Root starts it in a user namespace, where root's id has another number. The files stay root's. */
  | { readonly kind: "user-namespace" };

/**
 * The account for a cluster at `folder`, which may not exist yet. Root uses the owner of the folder, or of the data folder;
 * else the users postgres or nobody, where these reach the data folder and the programs; else a user namespace.
 */
export function chooseAccount({ folder, dataDirectory, programs }: ClusterPlace): ClusterAccount {
  if (process.getuid?.() !== 0) return { kind: "this-user" };
  const made = statSync(folder, { throwIfNoEntry: false });
  const candidates = made === undefined ? ownersToBe(dataDirectory) : [ownerOf(made)];
  const account = candidates.find(
    (one) => one.uid !== 0 && reaches(one, made === undefined ? dataDirectory : folder, programs),
  );
  if (account !== undefined) return account;
  if ((made === undefined || made.uid === 0) && hasUserNamespaces()) return { kind: "user-namespace" };
  if (openToPass(dataDirectory)) return chooseAccount({ folder, dataDirectory, programs });
  const owner = made === undefined || made.uid === 0 ? "postgres or nobody" : `its owner (${made.uid})`;
  throw new StoreFault(
    `PostgreSQL does not run as root, and ${owner} cannot reach ${made === undefined ? dataDirectory : folder} or ${programs}: ` +
      `start this program as another user, or let all users pass the folders above (chmod a+x), or set DATABASE_URL to a PostgreSQL server`,
  );
}

/** Lets others pass root's own data folder, as far as the modes of what is inside allow. False if they may pass already. */
function openToPass(dataDirectory: string): boolean {
  const { uid, mode } = statSync(dataDirectory);
  if (uid !== 0 || (mode & 0o001) !== 0) return false;
  chmodSync(dataDirectory, (mode & 0o7777) | 0o001);
  return true;
}

interface ClusterPlace {
  readonly folder: string;
  readonly dataDirectory: string;
  readonly programs: string;
}

type OtherUser = Extract<ClusterAccount, { kind: "other-user" }>;

function ownersToBe(dataDirectory: string): OtherUser[] {
  return [ownerOf(statSync(dataDirectory)), ...["postgres", "nobody"].flatMap(userNamed)];
}

function ownerOf({ uid, gid }: { uid: number; gid: number }): OtherUser {
  return { kind: "other-user", name: `user ${uid}`, uid, gid };
}

function userNamed(name: string): OtherUser[] {
  try {
    const id = (flag: string) =>
      Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    return [{ kind: "other-user", name: `user ${name}`, uid: id("-u"), gid: id("-g") }];
  } catch {
    return [];
  }
}

function reaches({ uid, gid }: OtherUser, folder: string, programs: string): boolean {
  const works = (program: string, words: string[]) =>
    spawnSync(program, words, { uid, gid, cwd: "/", stdio: "ignore", timeout: 10_000 }).status === 0;
  return works("test", ["-x", folder]) && works(join(programs, "postgres"), ["--version"]);
}

/** `unshare` of util-linux. The profiles of most containers forbid it. */
const enterNamespace = ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"] as const;

function hasUserNamespaces(): boolean {
  const [program, ...words] = enterNamespace;
  return spawnSync(program, [...words, "true"], { stdio: "ignore", timeout: 10_000 }).status === 0;
}

/** The words that run a program by this account, and the ids for `spawn`. */
export function commandOf(account: ClusterAccount, program: string, words: readonly string[]) {
  const cwd = "/";
  switch (account.kind) {
    case "this-user":
      return { program, words, options: { cwd } };
    case "other-user":
      return { program, words, options: { cwd, uid: account.uid, gid: account.gid } };
    case "user-namespace": {
      const [unshare, ...before] = enterNamespace;
      return { program: unshare, words: [...before, program, ...words], options: { cwd } };
    }
  }
}

/** One line for the log. */
export function describeAccount(account: ClusterAccount): string {
  switch (account.kind) {
    case "this-user":
      return "this user";
    case "other-user":
      return account.name;
    case "user-namespace":
      return "root in a user namespace";
  }
}
