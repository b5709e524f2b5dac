import { LoginRequest, SetupRequest, type UserView, httpStatus } from '@behalf/contracts';
import {
  type Audit,
  GatewayError,
  type PasswordSignIn,
  type Setup,
  type SignInSessions,
  toReturnPath,
} from '@behalf/gateway';
import type { Request } from 'express';
import { refusedSignInEvent, signInEvent } from '../../http/audit.ts';
import type { SessionCookie } from '../../http/cookies.ts';
import { isForm, parseBody, readBody } from '../../http/request.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import type { Logger } from '../../runtime/logger.ts';
import { setupPage } from '../pages/setupPage.ts';
import { signInPage } from '../pages/signInPage.ts';

interface LoginRouteParts {
  signIn: PasswordSignIn;
  sessions: SignInSessions;
  cookie: () => SessionCookie;
  logger: Logger;
  audit: Audit;
  /** True if browsers can also sign in at the OpenID Connect provider. */
  offersOpenId: boolean;
}

export function loginRoute(parts: LoginRouteParts): Route {
  const { signIn, sessions, cookie, logger, audit, offersOpenId } = parts;
  return publicRoute('post', '/api/auth/login', async (req, res) => {
    const { body, returnTo } = readForm(req);
    try {
      const { email, password } = parseBody(body, LoginRequest);
      const user = await signIn({ email, password, address: req.ip ?? 'unknown' });
      const session = await sessions.start(user);
      await audit.record(signInEvent('session.start', user));
      cookie().write(res, session);
      logger.info('Signed in', { user: user.id });
      if (isForm(req)) res.redirect(303, returnTo);
      else res.json({ user: userView(user) });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (error.code !== 'REQUEST_INVALID') {
        logger.warn('Sign-in refused', { code: error.code, address: req.ip });
        // Not recorded when rate limited: an attacker could otherwise fill the audit buffer at no cost.
        if (error.code !== 'RATE_LIMITED') audit.note(refusedSignInEvent(error.code));
      }
      if (!isForm(req)) throw error;
      const { email = '' } = (req.body ?? {}) as Record<string, string>;
      res
        .status(httpStatus(error.code))
        .type('html')
        .send(signInPage({ offersOpenId, email, error, returnTo }));
    }
  });
}

/** Forms carry `returnTo`, the page to continue with after the sign-in. JSON clients do not send it. */
function readForm(req: Request): { body: unknown; returnTo: string } {
  if (!isForm(req)) return { body: req.body, returnTo: '/' };
  const { returnTo, ...body } = (req.body ?? {}) as Record<string, unknown>;
  return { body, returnTo: toReturnPath(typeof returnTo === 'string' ? returnTo : undefined) };
}

/** Public, because signing out must also succeed without a valid session. */
export function logoutRoute({
  sessions,
  cookie,
  audit,
}: Pick<LoginRouteParts, 'sessions' | 'cookie' | 'audit'>): Route {
  return publicRoute('post', '/api/auth/logout', async (req, res) => {
    const secret = cookie().read(req);
    const endedSession = secret === null ? null : await sessions.end(secret);
    // Before the audit event: the session has ended even if recording it fails.
    cookie().erase(res);
    if (endedSession)
      await audit.record(
        signInEvent('session.end', { id: endedSession.userId, tenant: endedSession.tenant }),
      );
    if (isForm(req)) res.redirect(303, '/');
    else res.status(204).end();
  });
}

interface SetupRouteParts extends Omit<LoginRouteParts, 'signIn' | 'offersOpenId'> {
  setup: Setup;
}

export function setupRoute({ setup, sessions, cookie, logger, audit }: SetupRouteParts): Route {
  return publicRoute('post', '/api/auth/setup', async (req, res) => {
    try {
      const { token, ...account } = readBody(req, SetupRequest);
      const user = await setup.complete(token, account);
      const session = await sessions.start(user);
      await audit.record(signInEvent('user.create', user));
      cookie().write(res, session);
      logger.info('First administrator created', { user: user.id });
      if (isForm(req)) res.redirect(303, '/');
      else res.status(201).json({ user: userView(user) });
    } catch (error) {
      if (!isForm(req) || !(error instanceof GatewayError)) throw error;
      const { token = '', email = '', name = '' } = (req.body ?? {}) as Record<string, string>;
      const link = error.code === 'SETUP_LINK_INVALID' ? 'closed' : { token, email, name };
      res
        .status(error.code === 'SETUP_LINK_INVALID' ? 403 : 400)
        .type('html')
        .send(setupPage(link, error));
    }
  });
}

/** Lists the public fields explicitly, so that a new field of the record is not exposed by accident. */
export function userView({ id, email, name, role }: UserView): UserView {
  return { id, email, name, role };
}
