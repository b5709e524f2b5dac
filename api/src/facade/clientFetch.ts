import type { Clock, Fetch } from '@behalf/kernel';
import type { AskLimit } from './askLimit.ts';

/** Whatever came of it: an address that does not answer is no reason to ask it more often. */
const KEPT_MS = 60_000;
/** Each is as long as the door out lets it be. */
const MOST_KEPT = 200;
/** What the library reads of an answer; the others are about how it came here. */
const READ = ['cache-control', 'expires', 'content-type'];

interface Answer {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: ArrayBuffer;
}

export interface ClientFetchParts {
  readonly fetch: Fetch;
  readonly asks: Pick<AskLimit, 'mayAsk'>;
  readonly clock: Clock;
}

/**
 * Documents and keys of clients, which are only ever read. The library reads them anew with each request of a client that it
 * makes anew: without a memory of our own, whoever publishes a document could turn us against any address, request by request.
 */
export function createClientFetch({ fetch, asks, clock }: ClientFetchParts): Fetch {
  const kept = new Map<string, { readonly answer: Promise<Answer>; readonly until: number }>();

  async function read(url: string, init: RequestInit | undefined): Promise<Answer> {
    const response = await fetch(url, init);
    const headers = [...response.headers].filter(([name]) => READ.includes(name));
    return { status: response.status, headers, body: await response.arrayBuffer() };
  }

  function answerOf(url: string, init: RequestInit | undefined): Promise<Answer> {
    const known = kept.get(url);
    if (known && clock.now() < known.until) return known.answer;
    if (!asks.mayAsk()) throw new Error('Too many addresses in a minute');
    const answer = read(url, init);
    kept.delete(url);
    kept.set(url, { answer, until: clock.now() + KEPT_MS });
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return answer;
  }

  return async (url, init) => {
    const { status, headers, body } = await answerOf(String(url), init);
    return new Response(body.byteLength === 0 ? null : body, { status, headers });
  };
}
