import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { readBody, unread } from './body.ts';
import { JWT_BEARER, TOKEN_EXCHANGE, type Dialect } from './exchange/grants.ts';
import { handleSwitches, switchPath } from './exchange/switchRoute.ts';
import type { SwitchBoard } from './exchange/switches.ts';
import { handleInteraction, interactionPath } from './interactions.ts';
import { errorPage } from './pages/otherPages.ts';
import { pageHeaders, stylePath, styleSheet } from './pages/page.ts';
import { pathInTenant, TOKEN_PATH } from './tenant.ts';
import type { DevUser } from './users.ts';

/** One name under which people sign in and tokens are exchanged. */
export interface Door {
  /** Asked for each request: a rotation puts another one there. */
  provider: () => Provider;
  dialect: Dialect;
}

export interface RequestParts {
  plain: Door;
  entra: (Door & { tenant: string }) | undefined;
  exchange: (
    dialect: Dialect,
    form: URLSearchParams,
    req: IncomingMessage,
    res: ServerResponse,
  ) => Promise<void>;
  switches: SwitchBoard;
  users: readonly DevUser[];
  /** `Host` values that mean this server. A page whose name was rebound to loopback has another. */
  isOwnHost: (host: string | undefined) => boolean;
  onError: (error: unknown) => void;
}

export function createRequestListener(parts: RequestParts): RequestListener {
  const { plain, entra, exchange, switches, users, isOwnHost, onError } = parts;

  const enter = async (door: Door, tokenPath: string, req: IncomingMessage, res: ServerResponse) => {
    if (req.method !== 'POST' || req.url?.split('?')[0] !== tokenPath) {
      return door.provider().callback()(req, res);
    }
    const body = await readBody(req);
    const form = new URLSearchParams(String(body));
    const grant = form.get('grant_type');
    // An exchange is no login and leaves nothing behind, so the library has no part in it.
    if (grant === JWT_BEARER || grant === TOKEN_EXCHANGE) return exchange(door.dialect, form, req, res);
    const again = unread(req, body);
    Object.assign(again, { originalUrl: (req as { originalUrl?: string }).originalUrl });
    return door.provider().callback()(again, res);
  };

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { url = '/' } = req;
    if (!isOwnHost(req.headers.host)) {
      res.writeHead(421, pageHeaders).end(errorPage('misdirected_request'));
    } else if (url === switchPath) {
      await handleSwitches(switches, req, res);
    } else if (switches.take(['down'], undefined)) {
      req.socket.destroy();
    } else if (url === stylePath) {
      res.writeHead(200, { 'content-type': 'text/css; charset=utf-8' }).end(styleSheet);
    } else if (url.startsWith(interactionPath)) {
      await handleInteraction(plain.provider(), users, req, res);
    } else {
      const below = entra && pathInTenant(url, entra.tenant);
      if (!entra || below === undefined) return enter(plain, '/token', req, res);
      // What was cut off is how the library learns where it stands.
      req.url = below;
      Object.assign(req, { originalUrl: `/${entra.tenant}${below}` });
      await enter(entra, TOKEN_PATH, req, res);
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
