import type { ModelsView } from '@behalf/contracts';
import { GatewayError, type Principal, type UserPrincipal } from '@behalf/gateway';
import { type Clock, type Fetch, withTimeout } from '@behalf/kernel';
import type { EndpointSettings } from '@behalf/settings';
import type { Logger } from '../../runtime/logger.ts';
import { modelHeaders } from './modelClient.ts';

/** The models of the configuration as it is now, and what their APIs say of themselves. */
export interface Models {
  list(caller: UserPrincipal): Promise<ModelsView['endpoints']>;
  /** The wished one, or the first. It is one of those that `list` gives: nobody but the file says where a request goes. */
  choose(caller: UserPrincipal, requested: RequestedModel): Promise<ChosenModel>;
}

interface RequestedModel {
  readonly endpoint?: string | undefined;
  readonly model?: string | undefined;
}

export interface ChosenModel {
  readonly endpoint: EndpointSettings;
  readonly model: string;
}

interface ModelsParts {
  readonly endpoints: () => readonly EndpointSettings[];
  readonly fetchModels: FetchModels;
}

export function createModels({ endpoints, fetchModels }: ModelsParts): Models {
  async function modelNamesOf(endpoint: EndpointSettings, caller: UserPrincipal): Promise<string[]> {
    const { default: configured = [], fetch: shouldFetch = false } = endpoint.models ?? {};
    const configuredNames = configured.map((entry) => (typeof entry === 'string' ? entry : entry.name));
    return [...new Set([...configuredNames, ...(shouldFetch ? await fetchModels(endpoint, caller) : [])])];
  }

  return {
    list: (caller) =>
      Promise.all(
        endpoints().map(async (endpoint) => ({
          name: endpoint.name,
          models: await modelNamesOf(endpoint, caller),
        })),
      ),
    async choose(caller, { endpoint: requestedEndpoint, model }) {
      const all = endpoints();
      const endpoint =
        requestedEndpoint === undefined ? all[0] : all.find(({ name }) => name === requestedEndpoint);
      if (!endpoint) throw new GatewayError(all.length === 0 ? 'MODEL_NOT_CONFIGURED' : 'MODEL_NOT_FOUND');
      const names = await modelNamesOf(endpoint, caller);
      const selected = model === undefined ? names[0] : names.find((name) => name === model);
      if (selected !== undefined) return { endpoint, model: selected };
      // Its API was asked for its models and gave none.
      throw new GatewayError(names.length === 0 ? 'MODEL_UNAVAILABLE' : 'MODEL_NOT_FOUND');
    },
  };
}

/** What an API says that it has. Nothing where it cannot be asked: then those that the file names are left. */
type FetchModels = (endpoint: EndpointSettings, caller: Principal) => Promise<readonly string[]>;

interface FetchModelsParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CACHE_TTL_MS = 5 * 60_000;
/** One that failed is asked again sooner, and not with every question. */
const FAILURE_TTL_MS = 30_000;
const TIMEOUT_MS = 10_000;
/** Where headers name the user, each has a list of their own. */
const MAX_LISTS = 200;
const MAX_MODELS = 1_000;
const MAX_NAME_LENGTH = 200;

interface CachedModels {
  readonly models: Promise<readonly string[]>;
  expiresAt: number;
}

export function createFetchModels({ fetch, clock, logger }: FetchModelsParts): FetchModels {
  const lists = new Map<string, CachedModels>();

  async function requestModels(baseURL: string, headers: Record<string, string>): Promise<readonly string[]> {
    const timeout = new AbortController();
    const request = fetch(`${baseURL.replace(/\/+$/, '')}/models`, {
      headers: { accept: 'application/json', ...headers },
      signal: timeout.signal,
    }).then(async (response) => {
      if (response.ok) return parseModelNames(await response.json());
      // Nobody reads it, and its connection would wait for that.
      await response.body?.cancel();
      throw new Error(`It answered with ${response.status}`);
    });
    return withTimeout(clock, TIMEOUT_MS, request, () => {
      timeout.abort();
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
    const cached = lists.get(key);
    if (cached && clock.now() < cached.expiresAt) return cached.models;
    const list: CachedModels = {
      expiresAt: clock.now() + CACHE_TTL_MS,
      models: requestModels(endpoint.baseURL, headers).catch(() => {
        list.expiresAt = clock.now() + FAILURE_TTL_MS;
        logger.warn('Cannot list the models of an endpoint', { endpoint: endpoint.name });
        return [];
      }),
    };
    lists.delete(key);
    lists.set(key, list);
    for (const oldest of lists.keys()) {
      if (lists.size <= MAX_LISTS) break;
      lists.delete(oldest);
    }
    return list.models;
  };
}

function parseModelNames(body: unknown): string[] {
  const { data } = (body ?? {}) as { data?: unknown };
  const ids = (Array.isArray(data) ? data : []).map((entry) => (entry as { id?: unknown } | null)?.id);
  return ids
    .filter((id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_NAME_LENGTH)
    .slice(0, MAX_MODELS);
}
