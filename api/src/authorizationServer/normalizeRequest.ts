import type { IncomingMessage, ServerResponse } from 'node:http';
import { readCookie } from '../cookies.ts';
import type { ClientFetchLimit } from './clientFetchLimit.ts';
import type { ProviderSource } from './providerSource.ts';
import { MOUNT_PATH } from './resources.ts';

export interface ProviderHandlerParts {
  readonly providerSource: ProviderSource;
  readonly fetchLimit: Pick<ClientFetchLimit, 'runForRequest'>;
  readonly issuer: () => string;
  /** What the library calls its own session. */
  readonly sessionCookie: () => string;
}

/** Lets the library answer. `path` is how it knows the route, with what stands behind the question mark. */
export type ProviderHandler = (req: IncomingMessage, res: ServerResponse, path: string) => Promise<void>;

/**
 * What the library reads of a request is made plain first. Its addresses come from our own name and not from headers, and its own
 * session is never brought along: who is signed in, the gateway says, each time anew.
 */
export function createProviderHandler({
  providerSource,
  fetchLimit,
  issuer,
  sessionCookie,
}: ProviderHandlerParts): ProviderHandler {
  return async (req, res, path) => {
    const { host, protocol } = new URL(issuer());
    req.headers.host = host;
    req.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete req.headers['x-forwarded-host'];
    dropCookie(req, sessionCookie());
    req.url = path;
    (req as { originalUrl?: string }).originalUrl = `${MOUNT_PATH}${path}`;
    const provider = await providerSource.getProvider();
    await fetchLimit.runForRequest(req, () => provider.callback()(req, res));
  };
}

function dropCookie(req: IncomingMessage, name: string): void {
  if (readCookie(req, name) === null) return;
  const pairs = (req.headers.cookie ?? '').split(';').filter((pair) => pair.trim().split('=')[0] !== name);
  req.headers.cookie = pairs.join(';');
}
