import type { Principal } from '@behalf/gateway';
import { within, type Clock, type Fetch } from '@behalf/kernel';
import type { EndpointSettings } from '@behalf/settings';
import type { Logger } from '../../logger.ts';
import { modelHeaders } from './modelHeaders.ts';

/** What an API says that it has. Nothing where it cannot be asked: then those that the file names are left. */
export type FetchedModels = (endpoint: EndpointSettings, caller: Principal) => Promise<readonly string[]>;

export interface FetchedModelsParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
}

const KEPT_MS = 5 * 60_000;
/** One that failed is asked again sooner, and not with every question. */
const FAILED_MS = 30_000;
const PATIENCE_MS = 10_000;
/** Where headers name the user, each has a list of their own. */
const MOST_LISTS = 200;
const MOST_MODELS = 1_000;
const LONGEST_NAME = 200;

interface Kept {
  readonly models: Promise<readonly string[]>;
  until: number;
}

export function createFetchedModels({ fetch, clock, logger }: FetchedModelsParts): FetchedModels {
  const lists = new Map<string, Kept>();

  async function ask(baseURL: string, headers: Record<string, string>): Promise<readonly string[]> {
    const late = new AbortController();
    const asking = fetch(`${baseURL.replace(/\/+$/, '')}/models`, {
      headers: { accept: 'application/json', ...headers },
      signal: late.signal,
    }).then(async (response) => {
      if (response.ok) return namesIn(await response.json());
      // Nobody reads it, and its connection would wait for that.
      await response.body?.cancel();
      throw new Error(`It answered with ${response.status}`);
    });
    return within(clock, PATIENCE_MS, asking, () => {
      late.abort();
      throw new Error('It did not answer in time');
    });
  }

  return async (endpoint, caller) => {
    let headers: Record<string, string>;
    try {
      headers = modelHeaders(endpoint, caller);
    } catch {
      // It needs what only a conversation has.
      return [];
    }
    const key = JSON.stringify([endpoint.baseURL, headers]);
    const known = lists.get(key);
    if (known && clock.now() < known.until) return known.models;
    const kept: Kept = {
      until: clock.now() + KEPT_MS,
      models: ask(endpoint.baseURL, headers).catch(() => {
        kept.until = clock.now() + FAILED_MS;
        logger.warn('The models of an endpoint cannot be listed', { endpoint: endpoint.name });
        return [];
      }),
    };
    lists.delete(key);
    lists.set(key, kept);
    for (const oldest of lists.keys()) {
      if (lists.size <= MOST_LISTS) break;
      lists.delete(oldest);
    }
    return kept.models;
  };
}

function namesIn(body: unknown): string[] {
  const { data } = (body ?? {}) as { data?: unknown };
  const ids = (Array.isArray(data) ? data : []).map((entry) => (entry as { id?: unknown } | null)?.id);
  return ids
    .filter((id): id is string => typeof id === 'string' && id !== '' && id.length <= LONGEST_NAME)
    .slice(0, MOST_MODELS);
}
