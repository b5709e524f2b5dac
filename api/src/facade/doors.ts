import type { IncomingMessage } from 'node:http';
import type { Audit, SignInSessions } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { ComposedFacade } from '../composeFacade.ts';
import type { OpenId } from '../composeOpenId.ts';
import type { SessionCookie } from '../cookies.ts';
import type { RateLimits } from '../door/rateLimits.ts';
import type { Route } from '../http.ts';
import type { Logger } from '../logger.ts';
import { createClaimedLogin } from '../oauth/claimedLogin.ts';
import { createFlowCookie } from '../oauth/flowCookie.ts';
import type { Origins } from '../origins.ts';
import { ownClientRoutes } from '../rest/user/clients.ts';
import { createAsTheLibrary } from './asTheLibrary.ts';
import { interactionRoutes } from './interactionRoutes.ts';
import { cookieNames } from './cookieNames.ts';
import { facadeRoutes } from './routes.ts';

export interface DoorParts extends Omit<ComposedFacade, 'doors'> {
  origins: () => Origins;
  cookie: () => SessionCookie;
  sessions: Pick<SignInSessions, 'resolve'>;
  openId: OpenId | null;
  audit: Audit;
  logger: Pick<Logger, 'warn'>;
  limits: Pick<RateLimits, 'checkAddress' | 'refused'>;
  addressOf: (req: IncomingMessage) => string;
  clock: Clock;
}

/** Every door of our own authorization server. */
export function facadeDoors(parts: DoorParts): Route[] {
  const { facade, asks, issuer, settings, origins, cookie, sessions, openId } = parts;
  const browser = openId?.browser ?? null;
  const answer = createAsTheLibrary({
    ...{ facade, asks, issuer },
    sessionCookie: () => cookieNames(origins().secure).session,
  });
  const sessionSecret = (req: IncomingMessage) => cookie().read(req);
  return [
    ...facadeRoutes({ ...parts, answer }),
    ...interactionRoutes({
      ...parts,
      isOperators: (clientId) => Object.hasOwn(settings.clients, clientId),
      sessionSecret,
      async signedIn(req) {
        const secret = sessionSecret(req);
        const caller = secret === null ? undefined : (await sessions.resolve(secret))?.caller;
        return caller?.kind === 'user' ? caller : null;
      },
      login: openId &&
        browser && {
          issuer: openId.login.issuer,
          begin: createClaimedLogin({ ...browser, logger: parts.logger }),
          cookie: () => createFlowCookie(origins(), browser.callbackPath),
        },
    }),
    ...ownClientRoutes(parts),
  ];
}
