import type { ModelsView } from '@behalf/contracts';
import { modelsQuery } from '../../api/chat.ts';
import { serversQuery } from '../../api/servers.ts';
import { userQuery } from '../../api/user.ts';
import { queryClient } from '../../app/queryClient.ts';
import { type Store, createStore } from '../../app/store.ts';
import type { AnswerOptions } from '../session/session.ts';

interface ModelChoice {
  readonly endpoint: string;
  readonly model: string;
}

/** Returns the remembered model if it is still available, otherwise the first model. */
export function chooseModel(available: ModelsView, remembered: ModelChoice | null): ModelChoice | undefined {
  const choices = listModels(available);
  return choices.find((choice) => isSameModel(remembered, choice)) ?? choices[0];
}

export function listModels({ endpoints }: ModelsView): readonly ModelChoice[] {
  return endpoints.flatMap(({ name, models }) => models.map((model) => ({ endpoint: name, model })));
}

export function isSameModel(one: ModelChoice | null | undefined, other: ModelChoice): boolean {
  return one?.endpoint === other.endpoint && one.model === other.model;
}

/** Parses the remembered model. Stored values are untrusted: invalid ones are ignored. */
export function parseModelChoice(stored: unknown): ModelChoice | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const { endpoint, model } = stored as Partial<Record<string, unknown>>;
  return typeof endpoint === 'string' && typeof model === 'string' ? { endpoint, model } : null;
}

/**
 * Servers whose tools the model does not see. Stores the excluded servers, so that a new server is
 * included until the user excludes it.
 */
type ExcludedServers = readonly string[];

export function parseExcludedServers(stored: unknown): ExcludedServers {
  return Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : [];
}

/** Returns the servers for the request, or undefined if all are included. */
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

/** Creates persistent stores, one per user of this browser. */
function createUserStores<T>(name: string, parse: (stored: unknown) => T): (userId: string) => Store<T> {
  const byUser = new Map<string, Store<T>>();
  return (userId) => {
    const existing = byUser.get(userId);
    if (existing) return existing;
    const store = createPersistentStore(`behalf.${name}.${userId}`, parse);
    byUser.set(userId, store);
    return store;
  };
}

/** Creates a store in localStorage. Without storage the value lasts until the page closes. */
function createPersistentStore<T>(key: string, parse: (stored: unknown) => T): Store<T> {
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    stored = null;
  }
  const store = createStore(parse(stored));
  store.subscribe(() => {
    try {
      localStorage.setItem(key, JSON.stringify(store.get()));
    } catch {
      // Storage is disabled or full.
    }
  });
  return store;
}

export const modelChoiceStore = createUserStores('model', parseModelChoice);
export const excludedServersStore = createUserStores('servers', parseExcludedServers);

/** Returns the options of the next message. If servers are excluded, waits for the list of all servers. */
export async function currentAnswerOptions(): Promise<AnswerOptions> {
  const [models, user] = await Promise.all([
    queryClient.query(modelsQuery),
    queryClient.query({ ...userQuery, staleTime: Infinity }),
  ]);
  const excluded = excludedServersStore(user.id).get();
  const chosen = chooseModel(models, modelChoiceStore(user.id).get());
  if (excluded.length === 0) return { ...chosen };
  const names = Object.keys(await queryClient.query(serversQuery));
  const servers = selectRequestedServers(names, excluded);
  return { ...chosen, ...(servers && { servers }) };
}
