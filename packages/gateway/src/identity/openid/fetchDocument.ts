import { readBoundedText, type Clock, type Fetch } from '@behalf/kernel';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 512 * 1024;

export type JsonDocument = Readonly<Record<string, unknown>>;

/** A JSON object that the provider publishes. A redirect is an error: the place is what the issuer vouches for. */
export async function fetchJsonDocument(
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  url: string,
): Promise<JsonDocument> {
  const abort = new AbortController();
  const cancel = clock.timer(TIMEOUT_MS, () => abort.abort(new Error('timed out')), { keepAlive: true });
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: abort.signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}`);
    }
    const text = await readBoundedText(response, MAX_BYTES);
    if (text === undefined) throw new Error('no body, or too large');
    const document: unknown = JSON.parse(text);
    if (typeof document !== 'object' || document === null || Array.isArray(document)) {
      throw new Error('not a JSON object');
    }
    return document as JsonDocument;
  } finally {
    cancel();
  }
}
