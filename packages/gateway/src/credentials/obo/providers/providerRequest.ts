import type { Clock, Fetch } from '@behalf/kernel';
import { toNetworkFault } from './networkFault.ts';

/** Of one request; the door out has limits of its own besides. */
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_LENGTH = 1024 * 1024;

/** What the provider said, read to its end and not judged yet. */
export interface ProviderResponse {
  readonly status: number;
  readonly text: string;
  /** When the request left: a lifetime is counted from here, because the provider may have counted from then. */
  readonly sentAt: number;
  header(name: string): string | undefined;
}

export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** One request, in bounded time. Rejects with ExchangeFault. */
export async function sendProviderRequest(
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  url: string,
  { method, headers, body, signal }: ProviderRequest,
): Promise<ProviderResponse> {
  const timeout = new AbortController();
  const cancel = clock.timer(TIMEOUT_MS, () => timeout.abort(new Error('timed out')), { keepAlive: true });
  const sentAt = clock.now();
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    });
    const text = await response.text();
    return {
      status: response.status,
      text: text.length > MAX_RESPONSE_LENGTH ? '' : text,
      sentAt,
      header: (name) => response.headers.get(name) ?? undefined,
    };
  } catch (error) {
    throw toNetworkFault(error);
  } finally {
    cancel();
  }
}

/** A JSON object, or undefined. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
