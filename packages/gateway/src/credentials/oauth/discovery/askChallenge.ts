import type { Fetch } from '@behalf/kernel';
import { readChallenge } from '../../../upstream/http/challenge.ts';
import { modernHeaders } from '../../../upstream/http/modernHeaders.ts';
import { modernEnvelope } from '../../../upstream/http/writeRequest.ts';
import type { HeaderValues } from '../../../upstream/upstream.ts';
import type { Challenge } from '../../../upstream/upstreamError.ts';
import type { SignInTarget } from '../signInTarget.ts';
import type { ReadingParts } from './readDocument.ts';

const VERSION = '0';

/** What every conversation begins with: whoever wants a token for all there is refuses it. */
const QUESTION = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'behalf', version: VERSION },
  },
};

const LIST = 'tools/list';

/**
 * What the server says when it is asked without a token. Undefined when it says nothing, does not answer, or may not be asked:
 * then its metadata is looked for where it always stands, and that fails for the same reason.
 */
export async function askChallenge(
  parts: ReadingParts,
  target: SignInTarget,
): Promise<Challenge | undefined> {
  const { clock } = parts;
  const { type } = target.server.settings;
  if (type === 'websocket') return undefined;
  const abort = new AbortController();
  const cancel = clock.timer(parts.patienceMs, () => abort.abort(new Error('no answer in time')), {
    hold: true,
  });
  const fetch: Fetch = (url, init) => parts.fetch(url, { ...init, redirect: 'error', signal: abort.signal });
  try {
    return await (type === 'sse' ? askStream(fetch, target.url) : askRequests(fetch, target.url));
  } catch {
    return undefined;
  } finally {
    cancel();
  }
}

async function askStream(fetch: Fetch, url: string): Promise<Challenge | undefined> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
  await response.body?.cancel();
  return challengeOf(response);
}

/** Some let everybody in and want a token for what they have, and some know no `initialize` any more. */
async function askRequests(fetch: Fetch, url: string): Promise<Challenge | undefined> {
  const first = await post(fetch, url, QUESTION, {});
  if (first.status === 401 || first.status >= 500) return challengeOf(first);
  const session = first.headers.get('mcp-session-id');
  const inSession = session === null ? undefined : { 'mcp-session-id': session };
  const second = first.ok
    ? await post(fetch, url, { method: LIST, params: {} }, inSession ?? {})
    : await post(
        fetch,
        url,
        { method: LIST, params: { _meta: modernEnvelope(VERSION) } },
        modernHeaders(LIST, {}),
      );
  if (inSession) await endSession(fetch, url, inSession);
  return challengeOf(second);
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

async function post(fetch: Fetch, url: string, question: object, headers: HeaderValues): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...question }),
  });
  await response.body?.cancel();
  return response;
}

function challengeOf({ status, headers }: Response): Challenge | undefined {
  return status === 401 ? readChallenge(headers.get('www-authenticate') ?? undefined) : undefined;
}
