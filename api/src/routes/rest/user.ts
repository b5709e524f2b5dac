import {
  ApiKeyRequest,
  type ApiKeyView,
  type ClientView,
  type McpPermission,
  type OwnUserView,
  mcpPermissions,
  permissionType,
} from '@behalf/contracts';
import {
  type ApiKeys,
  type Audit,
  GatewayError,
  type Roles,
  type SignInSessions,
  isAdmin,
} from '@behalf/gateway';
import type { ClientGrants, Consents } from '@behalf/gateway/authorization-server';
import type { ApiKeyRecord } from '@behalf/gateway/ports';
import { isOperator } from '../../http/authentication.ts';
import { readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import { sessionView } from '../admin/users.ts';
import { signInEvent } from '../oauth/openId.ts';
import { userView } from './auth.ts';

interface UserRouteParts {
  readonly roles: Pick<Roles, 'permits'>;
  readonly offersOpenId: boolean;
}

/** Who is signed in and what they may do, so that a page need not offer what would be refused. */
export function userRoute({ roles, offersOpenId }: UserRouteParts): Route {
  return {
    method: 'get',
    path: '/api/user',
    access: 'signed-in',
    scope: 'mcp',
    handle(_req, res, caller) {
      const permitted = mcpPermissions.map((permission) => [permission, roles.permits(caller, permission)]);
      const view: OwnUserView = {
        ...userView({ ...caller, id: caller.userId }),
        permissions: { [permissionType]: Object.fromEntries(permitted) as Record<McpPermission, boolean> },
        isAdmin: isAdmin(caller),
        isOperator: isOperator(caller),
        offersOpenId,
      };
      res.json(view);
    },
  };
}

interface OwnSessionParts {
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

const KEYS_PATH = '/api/user/keys';

/** A user's own API keys. No key opens these doors: one that leaked must not make others. */
export function keyRoutes(keys: ApiKeys): Route[] {
  return [
    {
      method: 'get',
      path: KEYS_PATH,
      access: 'signed-in',
      scope: 'none',
      async handle(_req, res, caller) {
        res.json({ keys: (await keys.list(caller)).map(keyView) });
      },
    },
    {
      method: 'post',
      path: KEYS_PATH,
      access: 'signed-in',
      scope: 'none',
      async handle(req, res, caller) {
        const { key, record } = await keys.create(caller, readBody(req, ApiKeyRequest));
        res.status(201).json({ key, ...keyView(record) });
      },
    },
    {
      method: 'delete',
      path: `${KEYS_PATH}/:id`,
      access: 'signed-in',
      scope: 'none',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        await keys.remove(caller, id);
        res.status(204).end();
      },
    },
  ];
}

function keyView(record: ApiKeyRecord): ApiKeyView {
  const { id, name, hint, scopes, createdAt, expiresAt, lastUsedAt } = record;
  return { id, name, hint, scopes: [...scopes], createdAt, expiresAt, lastUsedAt };
}

interface OwnClientParts {
  consents: Pick<Consents, 'list' | 'remove'>;
  grants: Pick<ClientGrants, 'endForClient'>;
  audit: Audit;
}

const CLIENTS_PATH = '/api/user/clients';

/** To which applications a user said yes. Only a person in a browser sees and ends that. */
export function ownClientRoutes({ consents, grants, audit }: OwnClientParts): Route[] {
  return [
    {
      method: 'get',
      path: CLIENTS_PATH,
      access: 'signed-in',
      scope: 'none',
      async handle(_req, res, caller) {
        const clients: ClientView[] = await consents.list(caller);
        res.json({ clients });
      },
    },
    {
      method: 'delete',
      path: `${CLIENTS_PATH}/:id`,
      access: 'signed-in',
      scope: 'none',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const { tenant, userId, authentication } = caller;
        const revoked = await consents.remove(caller, id);
        if (!revoked) throw new GatewayError('NOT_FOUND');
        await grants.endForClient(userId, revoked.clientId);
        await audit.record({
          ...{ kind: 'sign_in', action: 'client.revoke', tenant, door: 'browser', outcome: 'ok' },
          ...{ subject: userId, changed: [revoked.clientId] },
          actor: { kind: 'user', id: userId, by: authentication.via },
        });
        res.status(204).end();
      },
    },
  ];
}
