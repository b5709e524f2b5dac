/** How exchanges of tokens ended, by their code, and how many requests they cost. */
export interface ExchangeStats {
  count(outcome: string, requests: number): void;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly requests: number;
}

export function createExchangeStats(): ExchangeStats {
  const outcomes = new Map<string, number>();
  let total = 0;
  return {
    count(outcome, requests) {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      total += requests;
    },
    outcomes,
    get requests() {
      return total;
    },
  };
}
