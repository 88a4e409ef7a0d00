/** How many deliveries of this node are under way, in all and for each bot's endpoint. */
export interface EndpointsInFlight {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
  add(botId: string): void;
  remove(botId: string): void;
}

export function endpointsInFlight(): EndpointsInFlight {
  const counts = new Map<string, number>();
  let total = 0;
  const change = (botId: string, by: 1 | -1) => {
    total += by;
    const count = (counts.get(botId) ?? 0) + by;
    if (count === 0) counts.delete(botId);
    else counts.set(botId, count);
  };
  return {
    counts,
    get total() {
      return total;
    },
    add: (botId) => change(botId, 1),
    remove: (botId) => change(botId, -1),
  };
}
