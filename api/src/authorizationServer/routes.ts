import type { IncomingMessage } from 'node:http';
import type { Audit, SignInSessions } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { ComposedAuthorizationServer } from '../composeAuthorizationServer.ts';
import type { OpenId } from '../composeOpenId.ts';
import type { SessionCookie } from '../cookies.ts';
import type { RateLimits } from '../http/rateLimits.ts';
import type { Route } from '../http/routes.ts';
import type { Logger } from '../logger.ts';
import { createLoginWithClaims } from '../oauth/loginWithClaims.ts';
import { createFlowCookie } from '../oauth/flowCookie.ts';
import type { Origins } from '../origins.ts';
import { ownClientRoutes } from '../rest/user/clients.ts';
import { createProviderHandler } from './normalizeRequest.ts';
import { interactionRoutes } from './interactionRoutes.ts';
import { cookieNames } from './cookieNames.ts';
import { providerRoutes } from './providerRoutes.ts';

export interface AuthorizationServerRoutesParts extends Omit<ComposedAuthorizationServer, 'createRoutes'> {
  origins: () => Origins;
  cookie: () => SessionCookie;
  sessions: Pick<SignInSessions, 'resolve'>;
  openId: OpenId | null;
  audit: Audit;
  logger: Pick<Logger, 'warn'>;
  limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  clientAddressOf: (req: IncomingMessage) => string;
  clock: Clock;
}

/** Every door of our own authorization server. */
export function authorizationServerRoutes(parts: AuthorizationServerRoutesParts): Route[] {
  const { providerSource, fetchLimit, issuer, settings, origins, cookie, sessions, openId } = parts;
  const browser = openId?.browser ?? null;
  const handleWithProvider = createProviderHandler({
    ...{ providerSource, fetchLimit, issuer },
    sessionCookie: () => cookieNames(origins().secure).session,
  });
  const readSessionSecret = (req: IncomingMessage) => cookie().read(req);
  return [
    ...providerRoutes({ ...parts, handleWithProvider }),
    ...interactionRoutes({
      ...parts,
      isOperatorClient: (clientId) => Object.hasOwn(settings.clients, clientId),
      readSessionSecret,
      async findSignedInUser(req) {
        const sessionCookieSecret = readSessionSecret(req);
        const caller =
          sessionCookieSecret === null ? undefined : (await sessions.resolve(sessionCookieSecret))?.caller;
        return caller?.kind === 'user' ? caller : null;
      },
      login: openId &&
        browser && {
          issuer: openId.login.issuer,
          begin: createLoginWithClaims({ ...browser, logger: parts.logger }),
          cookie: () => createFlowCookie(origins(), browser.callbackPath),
        },
    }),
    ...ownClientRoutes(parts),
  ];
}
