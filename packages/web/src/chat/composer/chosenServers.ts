/**
 * The servers whose tools the model does not see. What is left out is what is remembered: a server that is added later
 * is offered until somebody leaves it out.
 */
export type LeftOut = readonly string[];

export function readLeftOut(stored: unknown): LeftOut {
  return Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : [];
}

/** What the gateway is asked for: nothing where all are meant. */
export function serversToSend(names: readonly string[], leftOut: LeftOut): string[] | undefined {
  const isOut = new Set(leftOut);
  const chosen = names.filter((name) => !isOut.has(name));
  return chosen.length === names.length ? undefined : chosen;
}

export function withServer(leftOut: LeftOut, name: string, isChosen: boolean): LeftOut {
  const others = leftOut.filter((other) => other !== name);
  return isChosen ? others : [...others, name];
}
