import { GatewayError, type Audit, type SignInSessions } from '@behalf/gateway';
import { sessionView } from '../../admin/sessions.ts';
import type { Route } from '../../http/routes.ts';
import { signInEvent } from '../auth/signInEvents.ts';

export interface OwnSessionParts {
  sessions: Pick<SignInSessions, 'list' | 'endByHash'>;
  audit: Audit;
}

const SESSIONS_PATH = '/api/user/sessions';

/** Where a user is signed in. No key opens these doors: one that leaked must not throw its owner out. */
export function ownSessionRoutes({ sessions, audit }: OwnSessionParts): Route[] {
  return [
    {
      method: 'get',
      path: SESSIONS_PATH,
      access: 'signed-in',
      scope: 'none',
      async handle(_req, res, caller) {
        // What was granted to clients has a list of its own.
        const own = (await sessions.list(caller.userId)).filter(({ grant }) => grant === null);
        res.json({ sessions: own.map((session) => sessionView(session, caller)) });
      },
    },
    {
      method: 'delete',
      path: `${SESSIONS_PATH}/:session`,
      access: 'signed-in',
      scope: 'none',
      async handle(req, res, caller) {
        const { session } = req.params as { session: string };
        if (!(await sessions.endByHash(caller.userId, session))) throw new GatewayError('SESSION_NOT_FOUND');
        const { userId: id, tenant, authentication } = caller;
        await audit.record(signInEvent('session.end', { id, tenant }, authentication.via));
        res.status(204).end();
      },
    },
  ];
}
