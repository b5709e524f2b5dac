import type { Clock, Fetch } from '@behalf/kernel';

const PATIENCE_MS = 10_000;
const MOST_BYTES = 512 * 1024;

export type Document = Readonly<Record<string, unknown>>;

/** A JSON object that the provider publishes. A redirect is an error: the place is what the issuer vouches for. */
export async function fetchDocument(
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  url: string,
): Promise<Document> {
  const abort = new AbortController();
  const cancel = clock.timer(PATIENCE_MS, () => abort.abort(new Error('no answer in time')), { hold: true });
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
    const document: unknown = JSON.parse(await readText(response));
    if (typeof document !== 'object' || document === null || Array.isArray(document)) {
      throw new Error('not a JSON object');
    }
    return document as Document;
  } finally {
    cancel();
  }
}

async function readText({ body }: Response): Promise<string> {
  if (!body) throw new Error('no body');
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString('utf8');
    bytes += value.byteLength;
    if (bytes > MOST_BYTES) {
      await reader.cancel();
      throw new Error('too large');
    }
    chunks.push(value);
  }
}
