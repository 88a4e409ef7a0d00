// In a file of its own: the router's type, which publishers install, names it and must not reach Node's or a store's types.

/** The records of a user and what was done with them, or with `isErased` false would be done. */
export interface UserErasure {
  botId: string;
  userId: string;
  isErased: boolean;
  tables: { table: string; becomes: string; rows: number }[];
}

export interface UserVerbs {
  eraseUser(userId: string, isMeant: boolean): Promise<UserErasure>;
}
