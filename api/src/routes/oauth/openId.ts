import type { IncomingMessage } from 'node:http';
import {
  type Audit,
  type AuditActor,
  type AuditEvent,
  DEFAULT_TENANT,
  type FederatedTokens,
  type FinishedLogin,
  GatewayError,
  type IssuedSession,
  type OpenIdLogin,
  type PendingClaims,
  type Principal,
  type Provisioning,
  principalKey,
} from '@behalf/gateway';
import type { UserRecord } from '@behalf/gateway/ports';
import type { Random } from '@behalf/kernel';
import type { Response } from 'express';
import { type SessionCookie, createFlowCookie } from '../../http/cookies.ts';
import type { RateLimits } from '../../http/limits.ts';
import type { Origins } from '../../http/origins.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import type { Logger } from '../../runtime/logger.ts';

/** How somebody signed in at the provider, and what it gave for them. */
export interface OpenIdSignIn {
  readonly via: 'openid';
  readonly groups: readonly string[];
  readonly tokens: FederatedTokens;
}

type SessionHolder = Pick<Principal, 'tenant' | 'userId' | 'authentication'>;

/** How somebody signed in for a client of our own authorization server. */
interface GrantSignIn extends Omit<OpenIdSignIn, 'via'> {
  /** The session that the grant will be. */
  readonly session: string;
  readonly clientId: string;
  /** The session of the browser. */
  readonly from: string;
}

export interface OpenIdRouteParts {
  login: OpenIdLogin;
  provisioning: Provisioning;
  /** Always a new one: what was in the browser before is nobody's proof. */
  startSession: (user: UserRecord, signIn: OpenIdSignIn) => Promise<IssuedSession>;
  /** Keeps the tokens for what this user grants, and for nothing else. */
  startGrant: (user: UserRecord, signIn: GrantSignIn) => Promise<void>;
  /** Who holds this session cookie; null when nobody does. */
  findSessionHolder: (secret: string) => Promise<SessionHolder | null>;
  /** What the provider wants proven by users before it exchanges their tokens again. */
  pendingClaims: Pick<PendingClaims, 'find' | 'remove'>;
  /** The path of OPENID_CALLBACK_URL. */
  callbackPath: string;
  origins: () => Origins;
  cookie: () => SessionCookie;
  random: Random;
  logger: Logger;
  audit: Pick<Audit, 'note'>;
  limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  /** The address of who calls, past the proxies that are ours. */
  clientAddressOf: (req: IncomingMessage) => string;
}

/** Signing in at the identity provider, for browsers. */
export function openIdRoutes(parts: OpenIdRouteParts): Route[] {
  const { login, provisioning, startSession, callbackPath, origins, cookie, random, logger } = parts;
  const { audit, limits, clientAddressOf, findSessionHolder, pendingClaims, startGrant } = parts;
  const flowCookie = () => createFlowCookie(origins(), callbackPath);
  const begin = createLoginWithClaims(parts);

  /** Who is signed in here. */
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

  /** The provider has had its answer. */
  const dropClaims = ({ tenant, id: userId }: UserRecord) =>
    clearPendingClaims(async () => ({ tenant, userId }));

  /** Only for the account that is signed in here: it is the one that was asked for its consent. */
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

  /** Not everybody can prove what was asked for, and a server may have asked: the next try goes without. */
  const dropRefusedClaims = (req: IncomingMessage, flow: string | null) =>
    clearPendingClaims(async () =>
      flow !== null && login.hasRequestedClaims(flow) ? currentHolder(req) : null,
    );

  /** A page of ours with an incident id. What the provider said is for the log at most. */
  function redirectWithError(res: Response, error: unknown): void {
    const incidentId = random.id();
    const code = codeOf(error);
    logger.warn('Sign-in at the identity provider failed', {
      incident: incidentId,
      code,
      // Only of what we did not foresee: a GatewayError says all it has in its code.
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
      // Each try asks the provider. Who is stopped here keeps the login, and can come back with it.
      limits.checkAddress(clientAddressOf(req));
      const flow = flowCookie().read(req);
      // Whatever comes of it, a login is finished once.
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

/** What everybody on the way takes (RFC 9110, section 4.1). Past it the provider may show an error and send nobody back. */
const MAX_URL_LENGTH = 8_000;

type SignedInUser = Pick<Principal, 'tenant' | 'userId'>;
type LoginOptions = Omit<NonNullable<Parameters<OpenIdLogin['start']>[1]>, 'claims'>;

/** Begins a login at the provider. `whose`: who is signed in here already; null when nobody is. */
export type LoginWithClaims = (
  returnTo: string | undefined,
  readUser: () => Promise<SignedInUser | null>,
  options?: LoginOptions,
) => ReturnType<OpenIdLogin['start']>;

interface LoginWithClaimsParts {
  readonly login: Pick<OpenIdLogin, 'start'>;
  /** What the provider wants proven by users before it exchanges their tokens again. */
  readonly pendingClaims: Pick<PendingClaims, 'find'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** With what the provider wants proven by who is signed in here. The request itself says nothing of it. */
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
      // Without them the provider asks once more. Without a sign-in nobody comes in.
      logger.warn('Cannot read the pending claims challenge', { error });
      return undefined;
    }
  }

  return async (returnTo, readUser, options = {}) => {
    const started = await login.start(returnTo, { ...options, claims: await readPendingClaims(readUser) });
    return started.url.length > MAX_URL_LENGTH ? login.start(returnTo, options) : started;
  };
}

type SignInAction = 'session.start' | 'session.end' | 'user.create';

/** What is written down about somebody who came or went. */
export function signInEvent(
  action: SignInAction,
  user: { id: string; tenant: string },
  by: NonNullable<AuditActor['by']> = 'session',
): AuditEvent {
  return {
    kind: 'sign_in',
    action,
    tenant: user.tenant,
    actor: { kind: 'user', id: user.id, by },
    door: by === 'session' ? 'browser' : 'rest',
    outcome: 'ok',
  };
}

/** Nobody was recognised, so nobody is named: what was typed may be a password in the wrong field. */
export function refusedSignInEvent(code: string): AuditEvent {
  return {
    kind: 'sign_in',
    action: 'session.start',
    tenant: DEFAULT_TENANT,
    actor: { kind: 'anonymous', id: '' },
    door: 'browser',
    outcome: 'refused',
    code,
  };
}
