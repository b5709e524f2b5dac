import { httpStatus, LoginRequest } from '@behalf/contracts';
import { GatewayError, type Sessions, type SignIn } from '@behalf/gateway';
import type { SessionCookie } from '../../cookies.ts';
import type { Route } from '../../http.ts';
import type { Logger } from '../../logger.ts';
import { isForm, readBody } from '../../middleware/body.ts';
import { signInPage } from '../../pages/signInPage.ts';
import { userView } from '../userView.ts';

export interface LoginRouteParts {
  signIn: SignIn;
  sessions: Sessions;
  cookie: () => SessionCookie;
  logger: Logger;
}

export function loginRoute({ signIn, sessions, cookie, logger }: LoginRouteParts): Route {
  return {
    method: 'post',
    path: '/api/auth/login',
    access: 'public',
    async handle(req, res) {
      try {
        const { email, password } = readBody(req, LoginRequest);
        const user = await signIn({ email, password, address: req.ip ?? 'unknown' });
        cookie().write(res, await sessions.start(user));
        logger.info('Signed in', { user: user.id });
        if (isForm(req)) res.redirect(303, '/');
        else res.json({ user: userView(user) });
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (error.code !== 'REQUEST_INVALID')
          logger.warn('Sign-in refused', { code: error.code, address: req.ip });
        if (!isForm(req)) throw error;
        const { email = '' } = (req.body ?? {}) as Record<string, string>;
        res.status(httpStatus(error.code)).type('html').send(signInPage({ email, error }));
      }
    },
  };
}
