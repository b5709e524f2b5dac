import type { ModelsView } from '@behalf/contracts';
import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import type { EndpointSettings } from '@behalf/settings';
import type { FetchModels } from './fetchModels.ts';

/** The models of the configuration as it is now, and what their APIs say of themselves. */
export interface Models {
  list(caller: UserPrincipal): Promise<ModelsView['endpoints']>;
  /** The wished one, or the first. It is one of those that `list` gives: nobody but the file says where a request goes. */
  choose(caller: UserPrincipal, requested: RequestedModel): Promise<ChosenModel>;
}

export interface RequestedModel {
  readonly endpoint?: string | undefined;
  readonly model?: string | undefined;
}

export interface ChosenModel {
  readonly endpoint: EndpointSettings;
  readonly model: string;
}

export interface ModelsParts {
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
