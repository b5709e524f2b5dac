import type { Clock, Fetch } from '@behalf/kernel';
import { networkFault } from './networkFault.ts';

/** Of one request; the door out has limits of its own besides. */
const PATIENCE_MS = 10_000;
const LARGEST_ANSWER = 1024 * 1024;

/** What the provider said, read to its end and not judged yet. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** When the request left: a lifetime is counted from here, because the provider may have counted from then. */
  readonly sentAt: number;
  header(name: string): string | undefined;
}

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** One request, in bounded time. Rejects with ExchangeFault. */
export async function ask(
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  url: string,
  { method, headers, body, signal }: Question,
): Promise<Answer> {
  const late = new AbortController();
  const cancel = clock.timer(PATIENCE_MS, () => late.abort(new Error('no answer in time')), { hold: true });
  const sentAt = clock.now();
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    });
    const text = await response.text();
    return {
      status: response.status,
      text: text.length > LARGEST_ANSWER ? '' : text,
      sentAt,
      header: (name) => response.headers.get(name) ?? undefined,
    };
  } catch (error) {
    throw networkFault(error);
  } finally {
    cancel();
  }
}

/** A JSON object, or undefined. */
export function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
