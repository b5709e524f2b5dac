/**
 * The servers whose tools the model does not see. What is left out is what is remembered: a server that is added later
 * is offered until somebody leaves it out.
 */
export type ExcludedServers = readonly string[];

export function parseExcludedServers(stored: unknown): ExcludedServers {
  return Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : [];
}

/** What the gateway is asked for: nothing where all are meant. */
export function selectRequestedServers(
  names: readonly string[],
  excluded: ExcludedServers,
): string[] | undefined {
  const excludedNames = new Set(excluded);
  const included = names.filter((name) => !excludedNames.has(name));
  return included.length === names.length ? undefined : included;
}

export function setServerIncluded(
  excluded: ExcludedServers,
  name: string,
  isIncluded: boolean,
): ExcludedServers {
  const others = excluded.filter((other) => other !== name);
  return isIncluded ? others : [...others, name];
}
