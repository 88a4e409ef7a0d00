import { type Runner, statement } from "@intermission/postgres/open-database";

const balanceOf = statement<{ balance: number }>(
  "get-balance",
  "select balance from balances where bot_id = $1 and user_id = $2",
);

/** The user's balance; 0 for a user who never earned. */
export async function getBalance(runner: Pick<Runner<unknown>, "run">, botId: string, userId: string): Promise<number> {
  const [row] = await runner.run(balanceOf, [botId, userId]);
  return row?.balance ?? 0;
}
