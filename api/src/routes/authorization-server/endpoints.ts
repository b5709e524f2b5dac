import type { IncomingMessage } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import type { AuthorizationServerRecords } from '@behalf/gateway/authorization-server';
import type { Clock } from '@behalf/kernel';
import type { Request, Response } from 'express';
import type { RateLimits } from '../../http/limits.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import { connectionFailedPage } from './consent.ts';
import { MCP_SCOPE, MOUNT_PATH } from './issuer.ts';
import { MAX_QUERY_LENGTH, createInteractionLimit, createRegistrationLimit } from './limits.ts';
import type { ProviderHandler } from './providerSource.ts';

interface ProviderRouteParts {
  readonly handleWithProvider: ProviderHandler;
  readonly settings: Readonly<AuthorizationServer>;
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
}

const queryOf = (req: Request) => {
  const queryStart = req.originalUrl.indexOf('?');
  return queryStart < 0 ? '' : req.originalUrl.slice(queryStart);
};

/** The endpoints of the gateway's authorization server. Only listed paths reach oidc-provider. */
export function providerRoutes(parts: ProviderRouteParts): Route[] {
  const { handleWithProvider, settings, limits, clientAddressOf } = parts;
  const { registration } = settings;
  const registrationLimit = createRegistrationLimit(parts);

  const interactionLimit = createInteractionLimit(parts);

  /** Browsers get an error page with an OAuth error code. */
  function sendErrorPage(res: Response, status: number, error: string): void {
    res.status(status).type('html').send(connectionFailedPage(error));
  }

  async function authorize(req: Request, res: Response): Promise<void> {
    const query = queryOf(req);
    if (query.length > MAX_QUERY_LENGTH) sendErrorPage(res, 414, 'invalid_request');
    else if (await checkInteractionLimit(req, res, 'begin'))
      await handleWithProvider(req, res, `/auth${withScope(query)}`);
  }

  /** Continues after the interaction. The library may start another interaction. */
  async function resume(req: Request, res: Response): Promise<void> {
    const path = `/auth/${encodeURIComponent(String(req.params['uid']))}`;
    if (await checkInteractionLimit(req, res, 'resume')) await handleWithProvider(req, res, path);
  }

  async function checkInteractionLimit(
    req: Request,
    res: Response,
    step: 'begin' | 'resume',
  ): Promise<boolean> {
    const waitMs = await interactionLimit(req, step);
    if (waitMs === 0) return true;
    res.set('Retry-After', String(Math.ceil(waitMs / 1_000)));
    sendErrorPage(res, 429, 'temporarily_unavailable');
    return false;
  }

  /** The metadata document for both standards (RFC 8414, OpenID Connect Discovery). */
  const metadataRoute = (path: string): Route =>
    publicRoute(
      'get',
      path,
      (req, res) => handleWithProvider(req, res, '/.well-known/openid-configuration'),
      { allowsCrossOrigin: true },
    );

  /** Limits guessing of codes, tokens and secrets per network address, as for API keys. */
  const rateLimitedRoute = (path: string, providerPath: `/${string}`): Route =>
    publicRoute(
      'post',
      path,
      async (req, res) => {
        const address = clientAddressOf(req);
        limits.checkAddress(address);
        await handleWithProvider(req, res, providerPath);
        if (res.statusCode >= 400) limits.recordRefusal(address);
      },
      { raw: true, allowsCrossOrigin: true },
    );

  async function register(req: Request, res: Response): Promise<void> {
    const waitMs = await registrationLimit(req);
    if (waitMs > 0) throw new GatewayError('RATE_LIMITED', { retryAfterMs: waitMs });
    await handleWithProvider(req, res, '/reg');
  }

  const registrationRoute = { method: 'post', access: 'public', allowsCrossOrigin: true, raw: true } as const;
  return [
    metadataRoute(`/.well-known/oauth-authorization-server${MOUNT_PATH}`),
    metadataRoute(`/.well-known/openid-configuration${MOUNT_PATH}`),
    metadataRoute(`${MOUNT_PATH}/.well-known/openid-configuration`),
    publicRoute('get', `${MOUNT_PATH}/jwks`, (req, res) => handleWithProvider(req, res, '/jwks')),
    publicRoute('get', `${MOUNT_PATH}/auth`, authorize),
    publicRoute('get', `${MOUNT_PATH}/auth/:uid`, resume),
    rateLimitedRoute(`${MOUNT_PATH}/token`, '/token'),
    rateLimitedRoute(`${MOUNT_PATH}/token/revocation`, '/token/revocation'),
    ...(registration.enabled ? [{ ...registrationRoute, path: `${MOUNT_PATH}/reg`, handle: register }] : []),
  ];
}

/** Adds the MCP scope if it is missing: it is the default scope (RFC 6749 section 3.3). */
function withScope(query: string): string {
  const params = new URLSearchParams(query);
  if ((params.get('scope') ?? '').split(' ').includes(MCP_SCOPE)) return query;
  const scope = [params.get('scope') ?? '', MCP_SCOPE].join(' ').trim();
  params.set('scope', scope);
  return `?${params.toString()}`;
}
