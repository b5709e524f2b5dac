import type { IncomingMessage } from 'node:http';
import {
  type Audit,
  type FinishedLogin,
  GatewayError,
  type OpenIdLogin,
  type PendingClaims,
  type Principal,
  type Provisioning,
  principalKey,
} from '@behalf/gateway';
import type { UserRecord } from '@behalf/gateway/ports';
import type { Random } from '@behalf/kernel';
import type { Response } from 'express';
import { refusedSignInEvent } from '../../http/audit.ts';
import { type SessionCookie, createFlowCookie } from '../../http/cookies.ts';
import type { RateLimits } from '../../http/limits.ts';
import type { Origins } from '../../http/origins.ts';
import type { ClientAddressReader } from '../../http/request.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { OpenIdSessions, SessionHolder } from './openIdSessions.ts';

interface OpenIdRouteParts extends OpenIdSessions {
  login: OpenIdLogin;
  provisioning: Provisioning;
  /** The claims challenges that users have to satisfy at their next login. */
  pendingClaims: Pick<PendingClaims, 'find' | 'remove'>;
  /** The path of OPENID_CALLBACK_URL. */
  callbackPath: string;
  origins: () => Origins;
  cookie: () => SessionCookie;
  random: Random;
  logger: Logger;
  audit: Pick<Audit, 'note'>;
  limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  clientAddressOf: ClientAddressReader;
}

/**
 * Login of browsers at the identity provider (OpenID Connect authorization code flow). A login for a client of the gateway's
 * authorization server creates the grant of that client instead of a browser session.
 */
export function openIdRoutes(parts: OpenIdRouteParts): Route[] {
  const { login, provisioning, startSession, callbackPath, origins, cookie, random, logger } = parts;
  const { audit, limits, clientAddressOf, findSessionHolder, pendingClaims, startGrant } = parts;
  const flowCookie = () => createFlowCookie(origins(), callbackPath);
  const begin = createLoginWithClaims(parts);

  async function currentHolder(req: IncomingMessage): Promise<SessionHolder | null> {
    const secret = cookie().read(req);
    return secret === null ? null : findSessionHolder(secret);
  }

  async function clearPendingClaims(
    readHolder: () => Promise<Pick<SessionHolder, 'tenant' | 'userId'> | null>,
  ): Promise<void> {
    try {
      const holder = await readHolder();
      if (holder) await pendingClaims.remove(principalKey(holder));
    } catch (error) {
      logger.warn('Cannot clear the pending claims challenge', { error });
    }
  }

  /** The login satisfied the claims challenge. */
  const dropClaims = ({ tenant, id: userId }: UserRecord) =>
    clearPendingClaims(async () => ({ tenant, userId }));

  /** Only for the account that is signed in to this browser, because that account gave the consent. */
  async function finishGrant(
    req: IncomingMessage,
    user: UserRecord,
    { grant, verified, tokens }: FinishedLogin,
  ): Promise<void> {
    const holder = await currentHolder(req);
    if (!grant || holder?.userId !== user.id || holder.authentication.via !== 'session')
      throw new GatewayError('FORBIDDEN');
    await startGrant(user, {
      ...grant,
      from: holder.authentication.session,
      groups: verified.groups,
      tokens,
    });
  }

  /** A user may be unable to satisfy a claims challenge, which a server can trigger. The next login omits the claims. */
  const dropRefusedClaims = (req: IncomingMessage, flow: string | null) =>
    clearPendingClaims(async () =>
      flow !== null && login.hasRequestedClaims(flow) ? currentHolder(req) : null,
    );

  /** Shows an incident id. Error text of the provider is only logged. */
  function redirectWithError(res: Response, error: unknown): void {
    const incidentId = random.id();
    const code = codeOf(error);
    logger.warn('Sign-in at the identity provider failed', {
      incident: incidentId,
      code,
      // A GatewayError is fully described by its code.
      ...(!(error instanceof GatewayError) && { error }),
    });
    const publicCode = code === 'OPENID_UNAVAILABLE' || code === 'FORBIDDEN' ? code : 'OPENID_FAILED';
    res.redirect(302, `/?error=${publicCode.toLowerCase()}&incident=${encodeURIComponent(incidentId)}`);
  }

  return [
    publicRoute('get', '/oauth/openid', async (req, res) => {
      res.set('Cache-Control', 'no-store');
      limits.checkAddress(clientAddressOf(req));
      const { returnTo } = req.query;
      try {
        const started = await begin(typeof returnTo === 'string' ? returnTo : undefined, () =>
          currentHolder(req),
        );
        flowCookie().write(res, started);
        res.redirect(302, started.url);
      } catch (error) {
        redirectWithError(res, error);
      }
    }),
    publicRoute('get', callbackPath, async (req, res) => {
      res.set('Cache-Control', 'no-store');
      // Each attempt sends a request to the provider. A rate limited login keeps its cookie and can be repeated.
      limits.checkAddress(clientAddressOf(req));
      const flow = flowCookie().read(req);
      // A login can be finished once, also if it fails.
      flowCookie().erase(res);
      try {
        if (flow === null) throw new GatewayError('OPENID_FAILED');
        const query = new URL(req.url, 'http://callback.invalid').search;
        const finished = await login.finish({ flow, query });
        const { verified, tokens, returnTo, hasClaims } = finished;
        const user = await provisioning.userFor(verified, 'browser');
        if (!user) throw new GatewayError('FORBIDDEN');
        if (finished.grant) {
          await finishGrant(req, user, finished);
        } else {
          const session = await startSession(user, { via: 'openid', groups: verified.groups, tokens });
          cookie().write(res, session);
          logger.info('Signed in', { user: user.id });
        }
        if (hasClaims) await dropClaims(user);
        res.redirect(302, returnTo);
      } catch (error) {
        limits.recordRefusal(clientAddressOf(req));
        audit.note(refusedSignInEvent(codeOf(error)));
        await dropRefusedClaims(req, flow);
        redirectWithError(res, error);
      }
    }),
  ];
}

function codeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : 'INTERNAL';
}

/** RFC 9110 section 4.1 recommends that recipients support 8,000 octets. Providers may refuse longer URLs. */
const MAX_URL_LENGTH = 8_000;

type SignedInUser = Pick<Principal, 'tenant' | 'userId'>;
type LoginOptions = Omit<NonNullable<Parameters<OpenIdLogin['start']>[1]>, 'claims'>;

/** Starts a login at the provider. `readUser`: the user who is already signed in to this browser. */
export type LoginWithClaims = (
  returnTo: string | undefined,
  readUser: () => Promise<SignedInUser | null>,
  options?: LoginOptions,
) => ReturnType<OpenIdLogin['start']>;

interface LoginWithClaimsParts {
  readonly login: Pick<OpenIdLogin, 'start'>;
  readonly pendingClaims: Pick<PendingClaims, 'find'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Starts logins with the pending claims challenge of the signed-in user. The claims never come from the request. */
export function createLoginWithClaims({
  login,
  pendingClaims,
  logger,
}: LoginWithClaimsParts): LoginWithClaims {
  async function readPendingClaims(
    readUser: () => Promise<SignedInUser | null>,
  ): Promise<string | undefined> {
    try {
      const user = await readUser();
      return user ? await pendingClaims.find(principalKey(user)) : undefined;
    } catch (error) {
      // Without the claims the provider repeats its challenge later. Failing here would prevent the login.
      logger.warn('Cannot read the pending claims challenge', { error });
      return undefined;
    }
  }

  return async (returnTo, readUser, options = {}) => {
    const started = await login.start(returnTo, { ...options, claims: await readPendingClaims(readUser) });
    return started.url.length > MAX_URL_LENGTH ? login.start(returnTo, options) : started;
  };
}
