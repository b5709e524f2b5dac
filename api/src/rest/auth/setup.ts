import { SetupRequest } from '@behalf/contracts';
import { GatewayError, type Audit, type SignInSessions, type Setup } from '@behalf/gateway';
import type { SessionCookie } from '../../cookies.ts';
import type { Route } from '../../http/routes.ts';
import type { Logger } from '../../logger.ts';
import { isForm, readBody } from '../../middleware/body.ts';
import { setupPage } from '../../pages/setupPage.ts';
import { signInEvent } from './signInEvents.ts';
import { userView } from '../user/userView.ts';

export interface SetupRouteParts {
  setup: Setup;
  sessions: SignInSessions;
  cookie: () => SessionCookie;
  logger: Logger;
  audit: Audit;
}

export function setupRoute({ setup, sessions, cookie, logger, audit }: SetupRouteParts): Route {
  return {
    method: 'post',
    path: '/api/auth/setup',
    access: 'public',
    async handle(req, res) {
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
    },
  };
}
