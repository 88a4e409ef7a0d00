/** What was kept of a user, and what became of it, or with `isErased` false would. */
export interface UserErasure {
  botId: string;
  userId: string;
  isErased: boolean;
  tables: { table: string; becomes: string; rows: number }[];
}
