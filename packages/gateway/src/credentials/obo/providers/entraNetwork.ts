import type { INetworkModule, NetworkRequestOptions, NetworkResponse } from '@azure/msal-node';
import type { Clock, Fetch } from '@behalf/kernel';
import { sendProviderRequest, parseJsonObject, type ProviderResponse } from './providerRequest.ts';

export interface EntraNetworkParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly tokenEndpoint: string;
  readonly signal: AbortSignal;
}

export interface EntraNetwork {
  readonly client: INetworkModule;
  /** What came of the one request; undefined when none was made. */
  response(): Promise<ProviderResponse> | undefined;
}

/** The library's way out for one exchange: one request, to the configured endpoint. Its answer is judged by us. */
export function createEntraNetwork({ fetch, clock, tokenEndpoint, signal }: EntraNetworkParts): EntraNetwork {
  let pending: Promise<ProviderResponse> | undefined;

  async function post<T>(url: string, options: NetworkRequestOptions = {}): Promise<NetworkResponse<T>> {
    // The library adds a correlation id as a query.
    if (url !== tokenEndpoint && !url.startsWith(`${tokenEndpoint}?`))
      throw new Error('not the token endpoint');
    if (pending) throw new Error('only one request is allowed per exchange');
    const { headers = {}, body = '' } = options;
    pending = sendProviderRequest({ fetch, clock }, url, { method: 'POST', headers, body, signal });
    const response = await pending;
    return { status: response.status, headers: {}, body: (parseJsonObject(response.text) ?? {}) as T };
  }

  return {
    client: {
      sendPostRequestAsync: post,
      // Discovery of instances and endpoints: all of that is static here.
      sendGetRequestAsync: () => Promise.reject(new Error('GET requests are not allowed')),
    },
    response: () => pending,
  };
}
