import type { Cancel, Clock, Fetch } from '@behalf/kernel';

/** More than any honest answer has. */
const MAX_RESPONSE_BYTES = 256 * 1_024;
/** For what lies in the socket of a process that was stopped for longer than its request might take. */
const MAX_WAKE_GRACE_MS = 1_000;

export interface FormRequest {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

export interface FormResponse {
  readonly status: number;
  readonly text: string;
  getHeader(name: string): string | undefined;
}

/** One form, one answer, in bounded time and size; a redirect is an answer and is not followed. */
export async function postForm({
  url,
  fields,
  headers,
  fetch,
  clock,
  timeoutMs,
}: FormRequest): Promise<FormResponse> {
  const timeout = new AbortController();
  const sentAt = clock.now();
  let cancelTimer: Cancel = () => undefined;
  const abortRequest = () => timeout.abort(new Error('the request timed out'));
  const startTimer = (ms: number, onTimeout: () => void) => {
    cancelTimer = clock.timer(ms, onTimeout, { keepAlive: true });
  };
  // A process that was stopped wakes with its timers first. The answer may have come long ago, and it may hold the only
  // refresh token that lives.
  startTimer(timeoutMs, () =>
    clock.now() - sentAt < 1.5 * timeoutMs
      ? abortRequest()
      : startTimer(Math.min(MAX_WAKE_GRACE_MS, timeoutMs), abortRequest),
  );
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(fields).toString(),
      redirect: 'manual',
      signal: timeout.signal,
    });
    const text = await readLimitedText(response);
    return { status: response.status, text, getHeader: (name) => response.headers.get(name) ?? undefined };
  } finally {
    cancelTimer();
  }
}

async function readLimitedText({ body }: Response): Promise<string> {
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop by an error ends the exchange.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new RangeError('The response is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
