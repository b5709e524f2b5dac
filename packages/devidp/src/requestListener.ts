import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { type DevUser, findUser } from './directory.ts';
import { type Dialect, JWT_BEARER, TOKEN_EXCHANGE } from './exchange/exchangeHandler.ts';
import { type FaultSwitchBoard, handleSwitches, switchPath } from './exchange/switches.ts';
import { collectBody, replayRequest } from './listener.ts';
import { errors } from './oidcProvider.ts';
import { pageHeaders, renderErrorPage, renderLoginPage, stylePath, styleSheet } from './pages.ts';
import { TENANT_TOKEN_PATH, stripTenantPrefix } from './providerConfiguration.ts';

/** An issuer with its sign-in and exchange endpoints. */
interface ProviderEndpoint {
  /** Called per request, because a key rotation replaces the provider. */
  getProvider: () => Provider;
  dialect: Dialect;
}

interface RequestListenerParts {
  base: ProviderEndpoint;
  entra: (ProviderEndpoint & { tenant: string }) | undefined;
  handleExchange: (
    dialect: Dialect,
    form: URLSearchParams,
    req: IncomingMessage,
    res: ServerResponse,
  ) => Promise<void>;
  switches: FaultSwitchBoard;
  users: readonly DevUser[];
  /** Accepted `Host` values. Rejects DNS rebinding. */
  isAllowedHost: (host: string | undefined) => boolean;
  onError: (error: unknown) => void;
}

export function createRequestListener(parts: RequestListenerParts): RequestListener {
  const { base, entra, handleExchange, switches, users, isAllowedHost, onError } = parts;

  const handleEndpoint = async (
    endpoint: ProviderEndpoint,
    tokenPath: string,
    req: IncomingMessage,
    res: ServerResponse,
  ) => {
    if (req.method !== 'POST' || req.url?.split('?')[0] !== tokenPath) {
      return endpoint.getProvider().callback()(req, res);
    }
    const body = await collectBody(req);
    const form = new URLSearchParams(String(body));
    const grant = form.get('grant_type');
    // The library is not involved: an exchange is stateless and not a sign-in.
    if (grant === JWT_BEARER || grant === TOKEN_EXCHANGE)
      return handleExchange(endpoint.dialect, form, req, res);
    const replayed = replayRequest(req, body);
    Object.assign(replayed, { originalUrl: (req as { originalUrl?: string }).originalUrl });
    return endpoint.getProvider().callback()(replayed, res);
  };

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { url = '/' } = req;
    if (!isAllowedHost(req.headers.host)) {
      res.writeHead(421, pageHeaders).end(renderErrorPage('misdirected_request'));
    } else if (url === switchPath) {
      await handleSwitches(switches, req, res);
    } else if (switches.consume(['down'], undefined)) {
      req.socket.destroy();
    } else if (url === stylePath) {
      res.writeHead(200, { 'content-type': 'text/css; charset=utf-8' }).end(styleSheet);
    } else if (url.startsWith(interactionPath)) {
      await handleInteraction(base.getProvider(), users, req, res);
    } else {
      const tenantPath = entra && stripTenantPrefix(url, entra.tenant);
      if (!entra || tenantPath === undefined) return handleEndpoint(base, '/token', req, res);
      // The library derives its mount path from the difference.
      req.url = tenantPath;
      Object.assign(req, { originalUrl: `/${entra.tenant}${tenantPath}` });
      await handleEndpoint(entra, TENANT_TOKEN_PATH, req, res);
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

const interactionPath = '/interaction/';

/** The maximum size of a form. */
const MAX_FORM_BYTES = 10_000;

/**
 * The pages of a sign-in. A host-only SameSite cookie identifies the authorization request, so that another site
 * cannot choose the user.
 */
async function handleInteraction(
  provider: Provider,
  users: readonly DevUser[],
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    const { prompt, params } = await provider.interactionDetails(req, res);
    if (prompt.name === 'consent') {
      await provider.interactionFinished(req, res, { consent: {} });
      return;
    }
    if (req.method !== 'POST') {
      res.writeHead(200, pageHeaders).end(renderLoginPage(String(params.client_id), users));
      return;
    }
    const form = new URLSearchParams(String(await collectBody(req, MAX_FORM_BYTES)));
    const user = findUser(users, form.get('user') ?? undefined);
    if (form.has('cancel')) {
      const description = 'The sign-in was canceled.';
      await provider.interactionFinished(req, res, {
        error: 'access_denied',
        error_description: description,
      });
    } else if (user) {
      await provider.interactionFinished(req, res, { login: { accountId: user.id } });
    } else {
      res.writeHead(400, pageHeaders).end(renderErrorPage('unknown_user'));
    }
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    res.writeHead(400, pageHeaders).end(renderErrorPage(error.error, 'This sign-in has ended.'));
  }
}
