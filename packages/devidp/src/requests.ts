import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { handleInteraction, interactionPath } from './interactions.ts';
import { errorPage } from './pages/otherPages.ts';
import { pageHeaders, stylePath, styleSheet } from './pages/page.ts';
import type { DevUser } from './users.ts';

export interface RequestParts {
  /** Asked for each request: a rotation puts another one there. */
  provider: () => Provider;
  users: readonly DevUser[];
  /** `Host` values that mean this server. A page whose name was rebound to loopback has another. */
  isOwnHost: (host: string | undefined) => boolean;
  onError: (error: unknown) => void;
}

export function createRequestListener({
  provider,
  users,
  isOwnHost,
  onError,
}: RequestParts): RequestListener {
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (!isOwnHost(req.headers.host)) {
      res.writeHead(421, pageHeaders).end(errorPage('misdirected_request'));
    } else if (req.url === stylePath) {
      res.writeHead(200, { 'content-type': 'text/css; charset=utf-8' }).end(styleSheet);
    } else if (req.url?.startsWith(interactionPath)) {
      await handleInteraction(provider(), users, req, res);
    } else {
      await provider().callback()(req, res);
    }
  };

  return (req, res) => {
    handle(req, res).catch((error: unknown) => {
      onError(error);
      if (!res.headersSent) res.writeHead(500, pageHeaders);
      res.end();
    });
  };
}
