import type { IncomingMessage } from 'node:http';
import type { FlowError } from '@behalf/contracts';
import { GatewayError, type CallbackResult, type UserPrincipal } from '@behalf/gateway';
import type { Request } from 'express';
import type { RateLimits } from '../http/rateLimits.ts';
import type { Route } from '../http/routes.ts';
import type { Logger } from '../logger.ts';
import type { SignInStats } from '../ops/signInStats.ts';
import { attemptCookies, type ServerSignInParts } from './signInParts.ts';
import { findSignInServer } from './findSignInServer.ts';

export interface CallbackRouteParts extends ServerSignInParts {
  readonly findSignedInUser: (req: Request) => Promise<UserPrincipal | null>;
  readonly limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  /** The address of who calls, past the proxies that are ours. */
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly logger: Logger;
  readonly signInStats: Pick<SignInStats, 'count'>;
}

/** What shows that somebody tries states which are not theirs. */
const GUESS_ERRORS: ReadonlySet<FlowError> = new Set(['flow_unknown', 'invalid_state', 'missing_state']);

/** Where authorization servers send browsers back to. Always a redirect to a page of ours: nothing of theirs is shown. */
export function callbackRoute(parts: CallbackRouteParts): Route {
  const { oauth, findSignedInUser, limits, clientAddressOf, logger, signInStats } = parts;

  async function canUseServer(principal: UserPrincipal, serverName: string): Promise<boolean> {
    try {
      return (await findSignInServer(parts, principal, serverName)).name === serverName;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }

  async function finish(req: Request, serverName: string): Promise<CallbackResult> {
    try {
      const principal = await findSignedInUser(req);
      // Whoever may not use the server any more connects nothing; what they began stays as it was.
      if (principal && !(await canUseServer(principal, serverName)))
        return { ok: false, error: 'flow_forbidden' };
      return await oauth.flows.finish({
        serverName,
        query: new URL(req.url, 'http://callback.invalid').searchParams,
        principal,
        browserSecretOf: (flowId) => attemptCookies(parts).read(req, flowId),
      });
    } catch (error) {
      if (error instanceof GatewayError) return { ok: false, error: 'callback_failed' };
      logger.warn('A sign-in at a server failed', { server: serverName, error });
      return { ok: false, error: 'callback_failed' };
    }
  }

  return {
    method: 'get',
    path: '/api/mcp/:serverName/oauth/callback',
    access: 'public',
    async handle(req, res) {
      const { serverName } = req.params as { serverName: string };
      limits.checkAddress(clientAddressOf(req));
      const finished = await finish(req, serverName);
      signInStats.count(finished);
      if (finished.error !== undefined && GUESS_ERRORS.has(finished.error))
        limits.recordRefusal(clientAddressOf(req));
      if (finished.flowId !== undefined) attemptCookies(parts).erase(res, finished.flowId);
      res.set('Referrer-Policy', 'no-referrer').redirect(302, resultUrl(serverName, finished));
    },
  };
}

function resultUrl(serverName: string, { ok, error, flowId, returnTo }: CallbackResult): string {
  const query = new URLSearchParams({
    ...(error !== undefined && { error }),
    serverName,
    ...(flowId !== undefined && { flowId }),
    ...(returnTo !== undefined && returnTo !== '/' && { returnTo }),
  });
  return `/oauth/${ok ? 'success' : 'error'}?${query.toString()}`;
}
