import type { IncomingMessage } from 'node:http';
import {
  GatewayError,
  type Audit,
  type FederatedTokens,
  type IssuedSession,
  type OpenIdLogin,
  type Provisioning,
} from '@behalf/gateway';
import type { UserRecord } from '@behalf/gateway/ports';
import type { Random } from '@behalf/kernel';
import type { Response } from 'express';
import type { SessionCookie } from '../cookies.ts';
import type { RateLimits } from '../door/rateLimits.ts';
import type { Route } from '../http.ts';
import type { Logger } from '../logger.ts';
import type { Origins } from '../origins.ts';
import { refusedSignIn } from '../rest/auth/signInEvents.ts';
import { createFlowCookie } from './flowCookie.ts';

/** How somebody signed in at the provider, and what it gave for them. */
export interface OpenIdSignIn {
  readonly via: 'openid';
  readonly groups: readonly string[];
  readonly tokens: FederatedTokens;
}

export interface OpenIdRouteParts {
  login: OpenIdLogin;
  provisioning: Provisioning;
  /** Always a new one: what was in the browser before is nobody's proof. */
  startSession: (user: UserRecord, how: OpenIdSignIn) => Promise<IssuedSession>;
  /** The path of OPENID_CALLBACK_URL. */
  callbackPath: string;
  origins: () => Origins;
  cookie: () => SessionCookie;
  random: Random;
  logger: Logger;
  audit: Pick<Audit, 'note'>;
  limits: Pick<RateLimits, 'checkAddress' | 'refused'>;
  /** The address of who calls, past the proxies that are ours. */
  addressOf: (req: IncomingMessage) => string;
}

/** Signing in at the identity provider, for browsers. */
export function openIdRoutes(parts: OpenIdRouteParts): Route[] {
  const { login, provisioning, startSession, callbackPath, origins, cookie, random, logger } = parts;
  const { audit, limits, addressOf } = parts;
  const flowCookie = () => createFlowCookie(origins(), callbackPath);

  /** A page of ours with an incident id. What the provider said is for the log at most. */
  function fail(res: Response, error: unknown): void {
    const incident = random.id();
    const code = codeOf(error);
    logger.warn('Sign-in at the identity provider failed', {
      incident,
      code,
      // Only of what we did not foresee: a GatewayError says all it has in its code.
      ...(!(error instanceof GatewayError) && { error }),
    });
    const shown = code === 'OPENID_UNAVAILABLE' || code === 'FORBIDDEN' ? code : 'OPENID_FAILED';
    res.redirect(302, `/?error=${shown.toLowerCase()}&incident=${encodeURIComponent(incident)}`);
  }

  return [
    {
      method: 'get',
      path: '/oauth/openid',
      access: 'public',
      async handle(req, res) {
        res.set('Cache-Control', 'no-store');
        limits.checkAddress(addressOf(req));
        const { returnTo } = req.query;
        try {
          const begun = await login.begin(typeof returnTo === 'string' ? returnTo : undefined);
          flowCookie().write(res, begun);
          res.redirect(302, begun.url);
        } catch (error) {
          fail(res, error);
        }
      },
    },
    {
      method: 'get',
      path: callbackPath,
      access: 'public',
      async handle(req, res) {
        res.set('Cache-Control', 'no-store');
        // Each try asks the provider. Who is stopped here keeps the login, and can come back with it.
        limits.checkAddress(addressOf(req));
        const flow = flowCookie().read(req);
        // Whatever comes of it, a login is finished once.
        flowCookie().erase(res);
        try {
          if (flow === null) throw new GatewayError('OPENID_FAILED');
          const query = new URL(req.url, 'http://callback.invalid').search;
          const { verified, tokens, returnTo } = await login.finish({ flow, query });
          const user = await provisioning.userFor(verified, 'browser');
          if (!user) throw new GatewayError('FORBIDDEN');
          const session = await startSession(user, { via: 'openid', groups: verified.groups, tokens });
          cookie().write(res, session);
          logger.info('Signed in', { user: user.id });
          res.redirect(302, returnTo);
        } catch (error) {
          limits.refused(addressOf(req));
          audit.note(refusedSignIn(codeOf(error)));
          fail(res, error);
        }
      },
    },
  ];
}

function codeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : 'INTERNAL';
}
