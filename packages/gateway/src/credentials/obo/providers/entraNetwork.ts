import type { INetworkModule, NetworkRequestOptions, NetworkResponse } from '@azure/msal-node';
import type { Clock, Fetch } from '@behalf/kernel';
import { ask, readObject, type Answer } from './ask.ts';

export interface EntraNetworkParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly tokenEndpoint: string;
  readonly signal: AbortSignal;
}

export interface EntraNetwork {
  readonly client: INetworkModule;
  /** What came of the one request; undefined when none was made. */
  outcome(): Promise<Answer> | undefined;
}

/** The library's way out for one exchange: one request, to the configured endpoint. Its answer is judged by us. */
export function createEntraNetwork({ fetch, clock, tokenEndpoint, signal }: EntraNetworkParts): EntraNetwork {
  let made: Promise<Answer> | undefined;

  async function post<T>(url: string, options: NetworkRequestOptions = {}): Promise<NetworkResponse<T>> {
    // The library adds a correlation id as a query.
    if (url !== tokenEndpoint && !url.startsWith(`${tokenEndpoint}?`))
      throw new Error('not the token endpoint');
    if (made) throw new Error('one exchange is one request');
    const { headers = {}, body = '' } = options;
    made = ask({ fetch, clock }, url, { method: 'POST', headers, body, signal });
    const answer = await made;
    return { status: answer.status, headers: {}, body: (readObject(answer.text) ?? {}) as T };
  }

  return {
    client: {
      sendPostRequestAsync: post,
      // Discovery of instances and endpoints: all of that is static here.
      sendGetRequestAsync: () => Promise.reject(new Error('nothing is fetched')),
    },
    outcome: () => made,
  };
}
