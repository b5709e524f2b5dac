import type { Fetch } from '@behalf/kernel';
import { readChallenge } from '../../../upstream/http/challenge.ts';
import { createModernRequestHeaders } from '../../../upstream/http/modernHeaders.ts';
import { createModernEnvelope } from '../../../upstream/http/serializeRequest.ts';
import type { HeaderValues } from '../../../upstream/upstream.ts';
import type { Challenge } from '../../../upstream/upstreamError.ts';
import type { SignInTarget } from '../signInTarget.ts';
import type { DocumentReaderParts } from './readDocument.ts';

const CLIENT_VERSION = '0';

/** What every conversation begins with: whoever wants a token for all there is refuses it. */
const INITIALIZE_REQUEST = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'behalf', version: CLIENT_VERSION },
  },
};

const LIST_METHOD = 'tools/list';

/**
 * What the server says when it is asked without a token. Undefined when it says nothing, does not answer, or may not be asked:
 * then its metadata is looked for where it always stands, and that fails for the same reason.
 */
export async function probeChallenge(
  parts: DocumentReaderParts,
  target: SignInTarget,
): Promise<Challenge | undefined> {
  const { clock } = parts;
  const { type } = target.server.settings;
  if (type === 'websocket') return undefined;
  const abort = new AbortController();
  const cancel = clock.timer(parts.timeoutMs, () => abort.abort(new Error('the request timed out')), {
    keepAlive: true,
  });
  const fetch: Fetch = (url, init) => parts.fetch(url, { ...init, redirect: 'error', signal: abort.signal });
  try {
    return await (type === 'sse' ? probeStream(fetch, target.url) : probeRequests(fetch, target.url));
  } catch {
    return undefined;
  } finally {
    cancel();
  }
}

async function probeStream(fetch: Fetch, url: string): Promise<Challenge | undefined> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
  await response.body?.cancel();
  return readResponseChallenge(response);
}

/** Some let everybody in and want a token for what they have, and some know no `initialize` any more. */
async function probeRequests(fetch: Fetch, url: string): Promise<Challenge | undefined> {
  const first = await post(fetch, url, INITIALIZE_REQUEST, {});
  if (first.status === 401 || first.status >= 500) return readResponseChallenge(first);
  const session = first.headers.get('mcp-session-id');
  const sessionHeaders = session === null ? undefined : { 'mcp-session-id': session };
  const second = first.ok
    ? await post(fetch, url, { method: LIST_METHOD, params: {} }, sessionHeaders ?? {})
    : await post(
        fetch,
        url,
        { method: LIST_METHOD, params: { _meta: createModernEnvelope(CLIENT_VERSION) } },
        createModernRequestHeaders(LIST_METHOD, {}),
      );
  if (sessionHeaders) await endSession(fetch, url, sessionHeaders);
  return readResponseChallenge(second);
}

/** What was begun for a question is not left behind; whether that works changes no answer. */
async function endSession(fetch: Fetch, url: string, headers: HeaderValues): Promise<void> {
  try {
    const response = await fetch(url, { method: 'DELETE', headers });
    await response.body?.cancel();
  } catch {
    // It ends by itself.
  }
}

async function post(fetch: Fetch, url: string, request: object, headers: HeaderValues): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...request }),
  });
  await response.body?.cancel();
  return response;
}

function readResponseChallenge({ status, headers }: Response): Challenge | undefined {
  return status === 401 ? readChallenge(headers.get('www-authenticate') ?? undefined) : undefined;
}
