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

/** The model that was chosen before, as long as it is offered; else the first. */
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

/** What stands in the browser's storage is anybody's: it is a choice only when it looks like one. */
export function parseModelChoice(stored: unknown): ModelChoice | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const { endpoint, model } = stored as Partial<Record<string, unknown>>;
  return typeof endpoint === 'string' && typeof model === 'string' ? { endpoint, model } : null;
}

/**
 * The servers whose tools the model does not see. What is left out is what is remembered: a server that is added later
 * is offered until somebody leaves it out.
 */
type ExcludedServers = readonly string[];

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

/** A choice that the browser remembers: each user's own, also where several use one browser. */
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

/** Storage can be switched off; then it holds until the page is closed. */
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
      // See above.
    }
  });
  return store;
}

export const modelChoiceStore = createUserStores('model', parseModelChoice);
export const excludedServersStore = createUserStores('servers', parseExcludedServers);

/** With what the next message is sent. Who has left servers out waits until it is known which others there are. */
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
