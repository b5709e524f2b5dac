import type { IncomingMessage } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import type { AuthorizationServerRecords } from '@behalf/gateway/facade';
import type { Clock } from '@behalf/kernel';
import type { Request, Response } from 'express';
import type { RateLimits } from '../door/rateLimits.ts';
import type { Route } from '../http.ts';
import type { AsTheLibrary } from './asTheLibrary.ts';
import { failedPage } from './consentPage.ts';
import { createInteractionLimit, LONGEST_QUERY } from './interactionLimit.ts';
import { createRegistrationLimit } from './registrationLimit.ts';
import { MOUNT, SCOPE } from './resources.ts';

export interface FacadeRouteParts {
  readonly answer: AsTheLibrary;
  readonly settings: Readonly<AuthorizationServer>;
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly limits: Pick<RateLimits, 'checkAddress' | 'refused'>;
  readonly addressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
}

const search = (req: Request) => {
  const at = req.originalUrl.indexOf('?');
  return at < 0 ? '' : req.originalUrl.slice(at);
};

/** The doors of the library, one by one: what is not listed here is not there. */
export function facadeRoutes(parts: FacadeRouteParts): Route[] {
  const { answer, settings, limits, addressOf } = parts;
  const { registration } = settings;
  const registrations = createRegistrationLimit(parts);

  const interactions = createInteractionLimit(parts);

  /** Somebody's browser is here: it is told on a page, in OAuth's words. */
  function refuse(res: Response, status: number, error: string): void {
    res.status(status).type('html').send(failedPage(error));
  }

  async function authorize(req: Request, res: Response): Promise<void> {
    const query = search(req);
    if (query.length > LONGEST_QUERY) refuse(res, 414, 'invalid_request');
    else if (await mayAsk(req, res, 'begin')) await answer(req, res, `/auth${withScope(query)}`);
  }

  /** With what came of it. Where that is not enough, it is asked once more. */
  async function resume(req: Request, res: Response): Promise<void> {
    const path = `/auth/${encodeURIComponent(String(req.params['uid']))}`;
    if (await mayAsk(req, res, 'resume')) await answer(req, res, path);
  }

  async function mayAsk(req: Request, res: Response, step: 'begin' | 'resume'): Promise<boolean> {
    const waitMs = await interactions(req, step);
    if (waitMs === 0) return true;
    res.set('Retry-After', String(Math.ceil(waitMs / 1_000)));
    refuse(res, 429, 'temporarily_unavailable');
    return false;
  }

  /** One document for both standards (RFC 8414, OpenID Connect Discovery). */
  const document = (path: string): Route => ({
    method: 'get',
    path,
    access: 'public',
    guests: true,
    handle: (req, res) => answer(req, res, '/.well-known/openid-configuration'),
  });

  /** Guesses at codes, tokens and secrets are slowed down as guesses at keys are. */
  const guarded = (path: string, raw: `/${string}`): Route => ({
    method: 'post',
    path,
    access: 'public',
    guests: true,
    raw: true,
    async handle(req, res) {
      const address = addressOf(req);
      limits.checkAddress(address);
      await answer(req, res, raw);
      if (res.statusCode >= 400) limits.refused(address);
    },
  });

  async function register(req: Request, res: Response): Promise<void> {
    const waitMs = await registrations(req);
    if (waitMs > 0) throw new GatewayError('RATE_LIMITED', { retryAfterMs: waitMs });
    await answer(req, res, '/reg');
  }

  const registering = { method: 'post', access: 'public', guests: true, raw: true } as const;
  return [
    document(`/.well-known/oauth-authorization-server${MOUNT}`),
    document(`/.well-known/openid-configuration${MOUNT}`),
    document(`${MOUNT}/.well-known/openid-configuration`),
    {
      method: 'get',
      path: `${MOUNT}/jwks`,
      access: 'public',
      handle: (req, res) => answer(req, res, '/jwks'),
    },
    { method: 'get', path: `${MOUNT}/auth`, access: 'public', handle: authorize },
    { method: 'get', path: `${MOUNT}/auth/:uid`, access: 'public', handle: resume },
    guarded(`${MOUNT}/token`, '/token'),
    guarded(`${MOUNT}/token/revocation`, '/token/revocation'),
    ...(registration.enabled ? [{ ...registering, path: `${MOUNT}/reg`, handle: register }] : []),
  ];
}

/** A client that asks for no scope means the one there is (RFC 6749, section 3.3). */
function withScope(query: string): string {
  const params = new URLSearchParams(query);
  if ((params.get('scope') ?? '').split(' ').includes(SCOPE)) return query;
  const scope = [params.get('scope') ?? '', SCOPE].join(' ').trim();
  params.set('scope', scope);
  return `?${params.toString()}`;
}
