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
import { signInEvent } from '../../http/audit.ts';
import { isOperator } from '../../http/authentication.ts';
import { readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';
import { sessionView } from '../admin/users.ts';
import { userView } from './auth.ts';

interface UserRouteParts {
  readonly roles: Pick<Roles, 'permits'>;
  readonly offersOpenId: boolean;
}

/** The signed-in user and their permissions. The web interface hides actions that would be refused. */
export function userRoute({ roles, offersOpenId }: UserRouteParts): Route {
  return signedInRoute('get', '/api/user', 'mcp', (_req, res, caller) => {
    const permitted = mcpPermissions.map((permission) => [permission, roles.permits(caller, permission)]);
    const view: OwnUserView = {
      ...userView({ ...caller, id: caller.userId }),
      permissions: { [permissionType]: Object.fromEntries(permitted) as Record<McpPermission, boolean> },
      isAdmin: isAdmin(caller),
      isOperator: isOperator(caller),
      offersOpenId,
    };
    res.json(view);
  });
}

interface OwnSessionParts {
  sessions: Pick<SignInSessions, 'list' | 'endByHash'>;
  audit: Audit;
}

const SESSIONS_PATH = '/api/user/sessions';

/** A user's own sessions. Scope `none`: a leaked API key must not be able to sign its owner out. */
export function ownSessionRoutes({ sessions, audit }: OwnSessionParts): Route[] {
  return [
    signedInRoute('get', SESSIONS_PATH, 'none', async (_req, res, caller) => {
      // Sessions that belong to OAuth clients are listed under /api/user/clients.
      const own = (await sessions.list(caller.userId)).filter(({ grant }) => grant === null);
      res.json({ sessions: own.map((session) => sessionView(session, caller)) });
    }),
    signedInRoute('delete', `${SESSIONS_PATH}/:session`, 'none', async (req, res, caller) => {
      const { session } = req.params;
      if (!(await sessions.endByHash(caller.userId, session))) throw new GatewayError('SESSION_NOT_FOUND');
      const { userId: id, tenant, authentication } = caller;
      await audit.record(signInEvent('session.end', { id, tenant }, authentication.via));
      res.status(204).end();
    }),
  ];
}

const KEYS_PATH = '/api/user/keys';

/** A user's own API keys. Scope `none`: a leaked API key must not be able to create others. */
export function keyRoutes(keys: ApiKeys): Route[] {
  return [
    signedInRoute('get', KEYS_PATH, 'none', async (_req, res, caller) =>
      res.json({ keys: (await keys.list(caller)).map(keyView) }),
    ),
    signedInRoute('post', KEYS_PATH, 'none', async (req, res, caller) => {
      const { key, record } = await keys.create(caller, readBody(req, ApiKeyRequest));
      res.status(201).json({ key, ...keyView(record) });
    }),
    signedInRoute('delete', `${KEYS_PATH}/:id`, 'none', async (req, res, caller) => {
      await keys.remove(caller, req.params.id);
      res.status(204).end();
    }),
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

/** OAuth clients that the user gave consent to. Scope `none`: only a browser session can list and revoke them. */
export function ownClientRoutes({ consents, grants, audit }: OwnClientParts): Route[] {
  return [
    signedInRoute('get', CLIENTS_PATH, 'none', async (_req, res, caller) => {
      const clients: ClientView[] = await consents.list(caller);
      res.json({ clients });
    }),
    signedInRoute('delete', `${CLIENTS_PATH}/:id`, 'none', async (req, res, caller) => {
      const { id } = req.params;
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
    }),
  ];
}
