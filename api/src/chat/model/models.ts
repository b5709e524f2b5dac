import type { ModelsView } from '@behalf/contracts';
import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import type { EndpointSettings } from '@behalf/settings';
import type { FetchedModels } from './fetchedModels.ts';

/** The models of the configuration as it is now, and what their APIs say of themselves. */
export interface Models {
  list(caller: UserPrincipal): Promise<ModelsView['endpoints']>;
  /** The wished one, or the first. It is one of those that `list` gives: nobody but the file says where a request goes. */
  choose(caller: UserPrincipal, wish: ModelWish): Promise<ChosenModel>;
}

export interface ModelWish {
  readonly endpoint?: string | undefined;
  readonly model?: string | undefined;
}

export interface ChosenModel {
  readonly endpoint: EndpointSettings;
  readonly model: string;
}

export interface ModelParts {
  readonly endpoints: () => readonly EndpointSettings[];
  readonly fetched: FetchedModels;
}

export function createModels({ endpoints, fetched }: ModelParts): Models {
  async function namesOf(endpoint: EndpointSettings, caller: UserPrincipal): Promise<string[]> {
    const { default: named = [], fetch: asks = false } = endpoint.models ?? {};
    const own = named.map((entry) => (typeof entry === 'string' ? entry : entry.name));
    return [...new Set([...own, ...(asks ? await fetched(endpoint, caller) : [])])];
  }

  return {
    list: (caller) =>
      Promise.all(
        endpoints().map(async (endpoint) => ({
          name: endpoint.name,
          models: await namesOf(endpoint, caller),
        })),
      ),
    async choose(caller, { endpoint: wanted, model }) {
      const all = endpoints();
      const endpoint = wanted === undefined ? all[0] : all.find(({ name }) => name === wanted);
      if (!endpoint) throw new GatewayError(all.length === 0 ? 'MODEL_NOT_CONFIGURED' : 'MODEL_NOT_FOUND');
      const names = await namesOf(endpoint, caller);
      const chosen = model === undefined ? names[0] : names.find((name) => name === model);
      if (chosen !== undefined) return { endpoint, model: chosen };
      // Its API was asked for its models and gave none.
      throw new GatewayError(names.length === 0 ? 'MODEL_UNAVAILABLE' : 'MODEL_NOT_FOUND');
    },
  };
}
