/** All texts of the bot in one language. */
export interface Phrases {
  readonly commands: Readonly<Record<"/bonus" | "/tasks" | "/balance" | "/buy", string>>;
  welcome(price: number): string;
  readonly offer: string;
  readonly watch: string;
  readonly useLink: string;
  /** Of at least one channel to join, which the user is not to leave for so many days. */
  tasks(days: number): string;
  readonly noTask: string;
  noAdNow(waitSeconds: number | undefined): string;
  tooSoon(waitSeconds: number): string;
  balance(coins: number): string;
  tooPoor(price: number, coins: number): string;
  bought(coins: number): string;
  rewarded(amount: number, coins: number, event: "rewarded" | "direct_link" | "task"): string;
  /** A task is taken back. */
  takenBack(amount: number, coins: number): string;
  /** Keyed by the ledger's reason; reasons without an entry are not announced. */
  readonly unpaid: Readonly<Record<string, string>>;
  readonly unknown: string;
  readonly failed: string;
  readonly purchaseUnclear: string;
}
