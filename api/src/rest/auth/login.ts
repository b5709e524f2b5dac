import { httpStatus, LoginRequest } from '@behalf/contracts';
import {
  GatewayError,
  toReturnPath,
  type Audit,
  type SignInSessions,
  type PasswordSignIn,
} from '@behalf/gateway';
import type { Request } from 'express';
import type { SessionCookie } from '../../cookies.ts';
import type { Route } from '../../http/routes.ts';
import type { Logger } from '../../logger.ts';
import { isForm, parseBody } from '../../middleware/body.ts';
import { signInPage } from '../../pages/signInPage.ts';
import { refusedSignInEvent, signInEvent } from './signInEvents.ts';
import { userView } from '../user/userView.ts';

export interface LoginRouteParts {
  signIn: PasswordSignIn;
  sessions: SignInSessions;
  cookie: () => SessionCookie;
  logger: Logger;
  audit: Audit;
  /** Whether people can sign in at the identity provider instead. */
  offersOpenId: boolean;
}

export function loginRoute(parts: LoginRouteParts): Route {
  const { signIn, sessions, cookie, logger, audit, offersOpenId } = parts;
  return {
    method: 'post',
    path: '/api/auth/login',
    access: 'public',
    async handle(req, res) {
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
          // Whoever is stopped can go on trying at no cost: that must not push out what others do.
          if (error.code !== 'RATE_LIMITED') audit.note(refusedSignInEvent(error.code));
        }
        if (!isForm(req)) throw error;
        const { email = '' } = (req.body ?? {}) as Record<string, string>;
        res
          .status(httpStatus(error.code))
          .type('html')
          .send(signInPage({ offersOpenId, email, error, returnTo }));
      }
    },
  };
}

/** A form also says where its page was on the way to. A program knows that itself. */
function readForm(req: Request): { body: unknown; returnTo: string } {
  if (!isForm(req)) return { body: req.body, returnTo: '/' };
  const { returnTo, ...body } = (req.body ?? {}) as Record<string, unknown>;
  return { body, returnTo: toReturnPath(typeof returnTo === 'string' ? returnTo : undefined) };
}
