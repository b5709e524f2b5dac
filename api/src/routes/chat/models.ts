import type { ModelsView } from '@behalf/contracts';
import { GatewayError, type Principal, type UserPrincipal } from '@behalf/gateway';
import { type Clock, type Fetch, LruMap, withTimeout } from '@behalf/kernel';
import type { EndpointSettings } from '@behalf/settings';
import type { Logger } from '../../runtime/logger.ts';
import { renderModelHeaders } from './modelHeaders.ts';

/** The models of `endpoints.custom` in the current configuration, and those that their APIs list. */
export interface Models {
  list(caller: UserPrincipal): Promise<ModelsView['endpoints']>;
  /** The requested model, or the first. Only configured endpoints are used: a client cannot choose where a request goes. */
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
      // The configuration names no models, and the API listed none.
      throw new GatewayError(names.length === 0 ? 'MODEL_UNAVAILABLE' : 'MODEL_NOT_FOUND');
    },
  };
}

/** The models that an API lists. Empty if the API cannot be reached: the configured names remain. */
type FetchModels = (endpoint: EndpointSettings, caller: Principal) => Promise<readonly string[]>;

interface FetchModelsParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CACHE_TTL_MS = 5 * 60_000;
/** A failure is cached as well, so that an unreachable API does not delay every request. */
const FAILURE_TTL_MS = 30_000;
const TIMEOUT_MS = 10_000;
/** If headers contain fields of the user, each user has a separate list. */
const MAX_LISTS = 200;
const MAX_MODELS = 1_000;
const MAX_NAME_LENGTH = 200;

interface CachedModels {
  readonly models: Promise<readonly string[]>;
  expiresAt: number;
}

export function createFetchModels({ fetch, clock, logger }: FetchModelsParts): FetchModels {
  const lists = new LruMap<string, CachedModels>(MAX_LISTS);

  async function requestModels(baseURL: string, headers: Record<string, string>): Promise<readonly string[]> {
    const timeout = new AbortController();
    const request = fetch(`${baseURL.replace(/\/+$/, '')}/models`, {
      headers: { accept: 'application/json', ...headers },
      signal: timeout.signal,
    }).then(async (response) => {
      if (response.ok) return parseModelNames(await response.json());
      // Releases the connection: the body is not read.
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
      headers = renderModelHeaders(endpoint, caller);
    } catch {
      // A header contains a placeholder that has a value only within a conversation.
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
    lists.set(key, list);
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
